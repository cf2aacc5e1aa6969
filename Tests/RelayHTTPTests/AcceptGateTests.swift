import NIOCore
import NIOEmbedded
import Testing

@testable import RelayHTTP

/// The server accepts connections no faster than the event loops that serve them can take them
/// over.
@Suite struct AcceptGateTests {
  /// Counts how often the server is asked for more connections.
  private final class Reads: ChannelOutboundHandler {
    typealias OutboundIn = Never
    var count = 0

    func read(context: ChannelHandlerContext) {
      count += 1
      context.read()
    }
  }

  /// Fixed limit: connections accepted that are not served yet
  @Test(arguments: [
    (AcceptGate.waitingMax - 1, true), (AcceptGate.waitingMax, false),
    (AcceptGate.waitingMax + 1, false),
  ])
  func `the server accepts no connection while too many wait`(waiting: Int, isMore: Bool) throws {
    let reads = Reads()
    let server = EmbeddedChannel(handlers: [reads, AcceptGate()])
    try server.connect(to: SocketAddress(unixDomainSocketPath: "/none")).wait()
    // The event loop of this channel runs only when the test calls `run`.
    let serving = EmbeddedChannel()
    reads.count = 0
    for _ in 0..<waiting { try server.writeInbound(serving as any Channel) }
    server.pipeline.read()
    #expect(reads.count == (isMore ? 1 : 0))
    serving.embeddedEventLoop.run()
    server.embeddedEventLoop.run()
    #expect(reads.count == 1)
    server.pipeline.read()
    #expect(reads.count == 2)
  }
}
