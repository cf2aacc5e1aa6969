package import Hummingbird
import NIOCore

/// A request's surroundings: a handler needs its connection, to see a courier's reader leave.
package struct RelayRequestContext: RequestContext {
  package var coreContext: CoreRequestContextStorage
  let channel: any Channel

  package init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }
}
