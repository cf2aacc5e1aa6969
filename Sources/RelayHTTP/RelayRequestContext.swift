package import Hummingbird
import NIOCore

/// A request's context. A handler needs the channel, to notice when a courier's reader leaves.
package struct RelayRequestContext: RequestContext {
  package var coreContext: CoreRequestContextStorage
  let channel: any Channel

  package init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }
}
