import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
@testable import RelayCurl
import Synchronization

/// A bad network between clients and the daemon: it cuts requests and answers, delays them, and
/// answers 410, 429 and 503 in the daemon's place.
final class FaultyProxy: Sendable {
  /// What happens to one request.
  enum Fault: Sendable, CaseIterable {
    case none, cutBefore, cutAfter, delay, gone, busy, unavailable
  }

  let port: Int
  private let channel: any Channel
  private let upstream: Upstream

  /// - Parameter rarity: one request in `rarity` has a fault, on average.
  static func start(to base: String, rarity: Int) async throws -> FaultyProxy {
    let upstream = Upstream(base: base, rarity: rarity)
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 256)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(ProxyHandler(upstream))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return FaultyProxy(
      port: channel.localAddress?.port ?? 0, channel: channel, upstream: upstream)
  }

  private init(port: Int, channel: any Channel, upstream: Upstream) {
    (self.port, self.channel, self.upstream) = (port, channel, upstream)
  }

  /// From now on every request goes through.
  func endFaults() { upstream.rarity.withLock { $0 = .max } }

  /// How often each fault has happened.
  var counts: [Fault: Int] { upstream.counts.withLock { $0 } }

  func stop() async throws { try await channel.close() }

  fileprivate final class Upstream: Sendable {
    let base: String
    let client = HTTPClient()
    let rarity: Mutex<Int>
    let counts = Mutex<[Fault: Int]>([:])

    init(base: String, rarity: Int) {
      self.base = base
      self.rarity = Mutex(rarity)
    }

    func fault() -> Fault {
      let isFaulty = rarity.withLock { $0 < .max && Int.random(in: 0..<$0) == 0 }
      let fault = isFaulty ? Fault.allCases.dropFirst().randomElement() ?? .none : .none
      counts.withLock { $0[fault, default: 0] += 1 }
      return fault
    }

    /// - Returns: nil if the connection must be cut.
    func answer(_ head: HTTPRequestHead, _ body: [UInt8]) async -> HTTPAnswer? {
      let fault = fault()
      switch fault {
      case .cutBefore: return nil
      case .gone: return Self.refusal(410)
      case .busy: return Self.refusal(429)
      case .unavailable: return Self.refusal(503)
      case .delay: await Self.pause(milliseconds: Int.random(in: 0...300))
      case .none, .cutAfter: break
      }
      let request = HTTPRequest(
        head.method.rawValue, base + head.uri,
        headers: head.headers.filter { !["host", "content-length"].contains($0.name.lowercased()) }
          .map { (name: $0.name, value: $0.value) },
        body: body, timeout: .seconds(70))
      // While the daemon is down there is no answer, and the proxy cuts the client's connection.
      guard fault != .cutAfter, let answer = try? await client.send(request) else { return nil }
      return answer
    }

    private static func pause(milliseconds: Int) async {
      // A cancelled pause may end early.
      try? await ContinuousClock().sleep(for: .milliseconds(milliseconds))
    }

    private static func refusal(_ status: Int) -> HTTPAnswer {
      HTTPAnswer(
        status: status, headers: [(name: "retry-after", value: "1")],
        body: Array("<html>a proxy's page</html>".utf8))
    }
  }
}

/// Collects the parts of one request after the other, and answers each request when the daemon has
/// answered it.
private final class ProxyHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let upstream: FaultyProxy.Upstream
  private var head: HTTPRequestHead?
  private var body: [UInt8] = []

  init(_ upstream: FaultyProxy.Upstream) { self.upstream = upstream }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): (self.head, body) = (head, [])
    case .body(let bytes): body += bytes.readableBytesView
    case .end:
      guard let head else { return }
      let (channel, upstream, body) = (context.channel, upstream, body)
      Task {
        guard let answer = await upstream.answer(head, body) else {
          return channel.close(promise: nil)
        }
        let status = HTTPResponseStatus(statusCode: answer.status)
        var response = HTTPResponseHead(version: .http1_1, status: status)
        for (name, value) in answer.headers
        where !["transfer-encoding", "content-length", "connection"].contains(name) {
          response.headers.add(name: name, value: value)
        }
        response.headers.add(name: "content-length", value: "\(answer.body.count)")
        if !head.isKeepAlive { response.headers.add(name: "connection", value: "close") }
        channel.write(HTTPServerResponsePart.head(response), promise: nil)
        channel.write(
          HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: answer.body))), promise: nil)
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        if !head.isKeepAlive { channel.close(promise: nil) }
      }
    }
  }
}
