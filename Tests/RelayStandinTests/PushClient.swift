import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL

/// A small HTTP/2 client for these tests: one connection, one answer a call.
struct PushClient: Sendable {
  struct Answer: Sendable {
    var status: Int
    var headers: HPACKHeaders
    var body: String

    var reason: String? { members["reason"] as? String }
    var timestamp: Int64? { (members["timestamp"] as? NSNumber)?.int64Value }
    private var members: [String: Any] {
      // An accepted push has an empty body, which is no JSON.
      (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
    }
  }

  struct GoAway: Equatable, Sendable {
    var lastStream: Int
    var data: String
  }

  let channel: any Channel
  let farewells: AsyncStream<GoAway>
  let settings: EventLoopFuture<[HTTP2Setting]>
  /// The stream limits that the server announced.
  let limits: AsyncStream<Int>
  private let streams: NIOHTTP2Handler.StreamMultiplexer

  static func connect(port: Int, authority: String) async throws -> PushClient {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(authority)
    tls.applicationProtocols = ["h2"]
    let context = try NIOSSLContext(configuration: tls)
    let (farewells, said) = AsyncStream.makeStream(of: GoAway.self)
    let (limits, limited) = AsyncStream.makeStream(of: Int.self)
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let settings = loop.makePromise(of: [HTTP2Setting].self)
    let bootstrap = ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          // Without a host name, the client checks the certificate against the address 127.0.0.1.
          try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil))
          _ = try pipeline.configureHTTP2Pipeline(
            mode: .client, connectionConfiguration: .init(), streamConfiguration: .init()
          ) { $0.eventLoop.makeSucceededVoidFuture() }
          try pipeline.addHandler(RootFrames(farewells: said, settings: settings, limits: limited))
        }
      }
    let channel: any Channel
    do {
      channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
    } catch {
      settings.fail(error)
      throw error
    }
    let streams = try await channel.pipeline.handler(type: NIOHTTP2Handler.self)
      .flatMap { $0.multiplexer }.get()
    return PushClient(
      channel: channel, farewells: farewells, settings: settings.futureResult, limits: limits,
      streams: streams)
  }

  /// Returns the answer, or throws the error that ended the stream.
  func send(
    _ method: String, _ path: String, _ headers: [(String, String)], _ body: String
  ) async throws -> Answer {
    try await start(method, [path], headers, body)[0].get()
  }

  /// Sends one request for each path, all in one turn of the loop, so that no answer can stop
  /// another request.
  ///
  /// - Parameter resets: if true, each stream is reset right after its request.
  func start(
    _ method: String, _ paths: [String], _ headers: [(String, String)], _ body: String,
    resets: Bool = false
  ) async throws -> [EventLoopFuture<Answer>] {
    try await channel.eventLoop.submit { [streams, channel] in
      paths.map { path in
        var head = HPACKHeaders([
          (":method", method), (":scheme", "https"), (":path", path), (":authority", "localhost"),
        ])
        for (name, value) in headers { head.add(name: name, value: value) }
        let answer = channel.eventLoop.makePromise(of: Answer.self)
        let opened = channel.eventLoop.makePromise(of: (any Channel).self)
        // The connection may have ended.
        opened.futureResult.cascadeFailure(to: answer)
        streams.createStreamChannel(promise: opened) { [head] stream in
          stream.eventLoop.makeCompletedFuture {
            try stream.pipeline.syncOperations.addHandler(Exchange(head, body, resets, answer))
          }
        }
        return answer.futureResult
      }
    }.get()
  }

  func close() async throws {
    if channel.isActive { try await channel.close().get() }
  }
}

/// A stream that ended without an answer.
struct StreamEnded: Error, Equatable {
  var code: HTTP2ErrorCode?
}

private final class Exchange: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let head: HPACKHeaders
  private let request: String
  private let resets: Bool
  private let promise: EventLoopPromise<PushClient.Answer>
  private var headers = HPACKHeaders()
  private var body = ""
  private var code: HTTP2ErrorCode?
  private var isOver = false

  init(
    _ head: HPACKHeaders, _ request: String, _ resets: Bool,
    _ promise: EventLoopPromise<PushClient.Answer>
  ) {
    self.head = head
    self.request = request
    self.resets = resets
    self.promise = promise
  }

  func channelActive(context: ChannelHandlerContext) {
    let data = IOData.byteBuffer(ByteBuffer(string: request))
    context.write(wrapOutboundOut(.headers(.init(headers: head))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.data(.init(data: data, endStream: true))), promise: nil)
    if resets { context.writeAndFlush(wrapOutboundOut(.rstStream(.cancel)), promise: nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let frame):
      headers = frame.headers
      if frame.endStream { finish() }
    case .data(let frame):
      if case .byteBuffer(let bytes) = frame.data { body += String(buffer: bytes) }
      if frame.endStream { finish() }
    case .rstStream(let code):
      self.code = code
    default: break
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !isOver { promise.fail(StreamEnded(code: code)) }
    isOver = true
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func finish() {
    isOver = true
    let status = headers.first(name: ":status").flatMap { Int($0) } ?? 0
    promise.succeed(PushClient.Answer(status: status, headers: headers, body: body))
  }
}

private final class RootFrames: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  private let farewells: AsyncStream<PushClient.GoAway>.Continuation
  private let settings: EventLoopPromise<[HTTP2Setting]>
  private let limits: AsyncStream<Int>.Continuation

  init(
    farewells: AsyncStream<PushClient.GoAway>.Continuation,
    settings: EventLoopPromise<[HTTP2Setting]>, limits: AsyncStream<Int>.Continuation
  ) {
    self.farewells = farewells
    self.settings = settings
    self.limits = limits
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data).payload {
    case .goAway(let last, _, let data):
      farewells.yield(
        .init(lastStream: Int(last), data: data.map { String(buffer: $0) } ?? ""))
    case .settings(.settings(let values)):
      settings.succeed(values)
      for value in values where value.parameter == .maxConcurrentStreams {
        limits.yield(value.value)
      }
    default: break
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    farewells.finish()
    limits.finish()
    settings.fail(StreamEnded())
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
