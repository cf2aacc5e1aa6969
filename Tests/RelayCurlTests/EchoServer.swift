import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A small HTTP/1.1 server whose answers repeat the request. It has three exceptions: `/never` gets
/// no answer, `/hangup` ends the connection, and `/503` is answered 503.
struct EchoServer: Sendable {
  let channel: any Channel
  /// Counts the connections that the server has accepted.
  let connections: Count

  var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

  final class Count: Sendable {
    private let value = Mutex(0)
    var current: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
  }

  static func overTCP(_ body: (EchoServer) async throws -> Void) async throws {
    try await run({ try await $0.bind(host: "127.0.0.1", port: 0).get() }, body)
  }

  static func overSocket(_ body: (EchoServer, String) async throws -> Void) async throws {
    let path = "/tmp/zonerelay-client-\(UUID().uuidString).sock"
    try await run({
      try await $0.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
    }) {
      try await body($0, path)
    }
    // The test is over, and the file may be gone already.
    try? FileManager.default.removeItem(atPath: path)
  }

  private static func run(
    _ bind: (ServerBootstrap) async throws -> any Channel,
    _ body: (EchoServer) async throws -> Void
  ) async throws {
    let connections = Count()
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        connections.add()
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Handler())
        }
      }
    let server = EchoServer(channel: try await bind(bootstrap), connections: connections)
    do {
      try await body(server)
    } catch {
      try await server.channel.close()
      throw error
    }
    try await server.channel.close()
  }

  private init(channel: any Channel, connections: Count) {
    self.channel = channel
    self.connections = connections
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        self.head = head
        body.clear()
      case .body(let bytes): body.writeImmutableBuffer(bytes)
      case .end: if let head { answer(head, context) }
      }
    }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
      switch head.uri {
      case "/never": return
      case "/hangup": return context.close(promise: nil)
      default: break
      }
      let names = head.headers.map { $0.name.lowercased() }.sorted().joined(separator: ",")
      let type = head.headers.first(name: "content-type") ?? "none"
      var text = "\(head.method) \(head.uri) [\(names)] \(type) "
      text += String(buffer: body)
      let isFailing = head.uri == "/503"
      var answer = HTTPResponseHead(
        version: .http1_1, status: isFailing ? .serviceUnavailable : .ok)
      answer.headers.add(name: "Content-Length", value: "\(text.utf8.count)")
      answer.headers.add(name: "Retry-After", value: "7")
      context.write(wrapOutboundOut(.head(answer)), promise: nil)
      if head.method != .HEAD {
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
      }
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}
