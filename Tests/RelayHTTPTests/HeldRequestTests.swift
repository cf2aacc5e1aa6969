import NIOCore
import NIOEmbedded
import NIOHTTP1
@testable import RelayHTTP
import Synchronization
import Testing

/// The holder of a request is called once if the client ends the connection before the answer.
@Suite struct HeldRequestTests {
  private let channel = EmbeddedChannel()

  /// A connection with one whole request.
  private func connection() throws -> HTTPConnection {
    let connection = HTTPConnection(channel: channel, idle: .seconds(60)) { _ in }
    try channel.pipeline.syncOperations.addHandler(connection)
    channel.connect(to: try SocketAddress(ipAddress: "203.0.113.7", port: 1), promise: nil)
    let head = HTTPRequestHead(
      version: .http1_1, method: .GET, uri: "/", headers: ["host": "relay.example"])
    try channel.writeInbound(HTTPServerRequestPart.head(head))
    try channel.writeInbound(HTTPServerRequestPart.end(nil))
    return connection
  }

  @Test func `the holder is told when the client ends`() throws {
    let connection = try connection()
    let gone = Atomic(0)
    #expect(try connection.hold { _ in { gone.add(1, ordering: .relaxed) } } == true)
    #expect(gone.load(ordering: .relaxed) == 0)
    channel.close(promise: nil)
    #expect(gone.load(ordering: .relaxed) == 1)
  }

  /// A reset that the kernel reports while the holder writes its first part closes the connection
  /// before `hold` returns. Earlier, the courier then kept the device as connected until the
  /// device's address lapsed.
  @Test func `the holder is told when the connection breaks while it is taken over`() throws {
    let connection = try connection()
    let gone = Atomic(0)
    let isHeld = try connection.hold { _ in
      channel.close(promise: nil)
      return { gone.add(1, ordering: .relaxed) }
    }
    #expect(isHeld == true && gone.load(ordering: .relaxed) == 1)
  }
}
