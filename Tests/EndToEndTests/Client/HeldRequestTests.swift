import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing
import ZoneRelayClient

/// Which connections `URLSessionTransport` uses on Linux: there a held request on a new connection
/// keeps a core busy, and a request with a body may lose the body on a connection that was used
/// before.
@Suite struct HeldRequestTests {
  private static let polls = 200

  @Test func `polls use prepared connections, and requests with a body new ones`() async throws {
    let server = try await ConnectionLog.start()
    let transport = URLSessionTransport()
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/courier"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for _ in 1...Self.polls {
          _ = try await transport.send(RelayRequest(method: "GET", url: url, isHeld: true))
        }
      }
      group.addTask {
        while true {
          try Task.checkCancellation()
          _ = try await transport.send(
            RelayRequest(method: "POST", url: url, body: Data("{}".utf8)))
        }
      }
      try await group.next()
      group.cancelAll()
      // The task that sends POST requests is cancelled and throws. The loop ignores its error.
      while let result = await group.nextResult() { _ = result }
    }
    let connections = server.connections
    let polled = connections.filter { $0.contains("GET") }
    #expect(polled.joined().count { $0 == "GET" } == Self.polls)
    #expect(polled.allSatisfy { $0.first == "HEAD" && !$0.contains("POST") })
    let posted = connections.filter { $0.contains("POST") }
    #expect(!posted.isEmpty && posted.allSatisfy { $0 == ["POST"] })
    try await server.stop()
  }
}

/// A server that answers each request at once and notes its method, connection by connection.
private final class ConnectionLog: Sendable {
  private let methods = Mutex<[[String]]>([])
  private let listener = Mutex<(any Channel)?>(nil)
  var connections: [[String]] { methods.withLock { $0 } }
  var port: Int { listener.withLock { $0?.localAddress?.port ?? 0 } }

  static func start() async throws -> ConnectionLog {
    let log = ConnectionLog()
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Handler(log, log.newConnection()))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    log.listener.withLock { $0 = channel }
    return log
  }

  func stop() async throws { try await listener.withLock { $0 }?.close() }

  private func newConnection() -> Int {
    methods.withLock {
      $0.append([])
      return $0.count - 1
    }
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let log: ConnectionLog
    private let connection: Int
    private var closes = false

    init(_ log: ConnectionLog, _ connection: Int) {
      (self.log, self.connection) = (log, connection)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        closes = !head.isKeepAlive
        log.methods.withLock { $0[connection].append(head.method.rawValue) }
      case .body: break
      case .end:
        let head = HTTPResponseHead(
          version: .http1_1, status: .ok,
          headers: ["Content-Length": "0", "Connection": closes ? "close" : "keep-alive"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if closes { context.close(promise: nil) }
      }
    }
  }
}
