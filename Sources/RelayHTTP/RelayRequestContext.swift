package import Hummingbird
import NIOCore

/// A request's context. A handler needs the channel for the client's address, and the courier
/// needs it to answer later and to notice when the client disconnects.
package struct RelayRequestContext: RequestContext {
  package var coreContext: CoreRequestContextStorage
  let channel: any Channel

  package init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }
}
