import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP/2 server that sends the frames of a test's script, valid or not, and reads no header
/// fields.
final class ScriptedPeer: Sendable {
  struct Script: Sendable {
    var protocols = ["h2"]
    /// SETTINGS_MAX_CONCURRENT_STREAMS at the start; `nil` means that the peer names no limit.
    var limit: UInt32? = 1_000
    /// SETTINGS_INITIAL_WINDOW_SIZE at the start; `nil` means HTTP/2's 65,535 bytes.
    var window: UInt32?
    var answersPings = true
    var onPing: @Sendable () -> Void = {}
    /// Called for each complete request.
    var onRequest: @Sendable (InboundRequest) -> [Reply] = { [.answer($0.stream, 200)] }
  }

  struct InboundRequest: Sendable {
    var connection: Int
    var stream: UInt32
    /// The number of requests so far over all connections, with this request.
    var count: Int
    /// The unanswered streams of this connection, with the request's own stream, lowest first.
    var open: [UInt32]
  }

  enum Reply: Sendable {
    case answer(UInt32, Int, String = "")
    case reset(UInt32, code: UInt32)
    case goAway(last: UInt32)
    case limit(UInt32)
    case hangUp
    /// A frame that HTTP/2 forbids.
    case nonsense
    /// The peer continues to read, and sends nothing any more.
    case fallSilent
  }

  struct Record: Sendable {
    var connections = 0
    var requests = 0
    var pings = 0
    /// For each connection, the most streams that were open at once since the last `limit` reply.
    var mostOpen: [Int: Int] = [:]
  }

  let port: Int
  private let listener: any Channel
  private let state: Shared

  final class Shared: Sendable {
    let script: Script
    let record = Mutex(Record())
    init(script: Script) { self.script = script }
  }

  init(_ script: Script, certificate: Certificate) async throws {
    let shared = Shared(script: script)
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMFile(certificate.certificate).map {
        .certificate($0)
      },
      privateKey: .privateKey(try NIOSSLPrivateKey(file: certificate.key, format: .pem)))
    tls.applicationProtocols = script.protocols
    let context = try NIOSSLContext(configuration: tls)
    listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            NIOSSLServerHandler(context: context), ScriptedConnection(shared))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = listener.localAddress?.port ?? 0
    state = shared
  }

  var record: Record { state.record.withLock { $0 } }

  func close() async throws { try await listener.close() }
}

private final class ScriptedConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let shared: ScriptedPeer.Shared
  private var number = 0
  private var buffer = ByteBuffer()
  private var awaitsPreface = true
  private var isSilent = false
  private var open: [UInt32] = []

  init(_ shared: ScriptedPeer.Shared) { self.shared = shared }

  func channelActive(context: ChannelHandlerContext) {
    number = shared.record.withLock { record in
      record.connections += 1
      return record.connections
    }
    var out = ByteBuffer()
    let limit = shared.script.limit.map { [0, 3] + Frame.word($0) } ?? []
    let window = shared.script.window.map { [0, 4] + Frame.word($0) } ?? []
    Frame.write(.settings, stream: 0, limit + window, to: &out)
    context.writeAndFlush(wrapOutboundOut(out), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    buffer.writeBuffer(&bytes)
    if awaitsPreface {
      guard buffer.readableBytes >= Frame.prefaceBytes else { return }
      buffer.moveReaderIndex(forwardBy: Frame.prefaceBytes)
      awaitsPreface = false
    }
    var out = ByteBuffer()
    while let frame = Frame.take(from: &buffer) {
      if handle(frame, &out) {
        context.close(promise: nil)
        return
      }
    }
    guard !isSilent, out.readableBytes > 0 else { return }
    context.writeAndFlush(wrapOutboundOut(out), promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  /// - Returns: whether the server must close the connection.
  private func handle(_ frame: Frame.Received, _ out: inout ByteBuffer) -> Bool {
    switch Frame.Kind(rawValue: frame.type) {
    case .headers: open.append(frame.stream)
    case .reset: open.removeAll { $0 == frame.stream }
    case .settings where frame.flags & 1 == 0:
      Frame.write(.settings, flags: 1, stream: 0, [], to: &out)
    case .ping where frame.flags & 1 == 0:
      shared.record.withLock { $0.pings += 1 }
      shared.script.onPing()
      if shared.script.answersPings {
        Frame.write(.ping, flags: 1, stream: 0, Array(frame.payload.readableBytesView), to: &out)
      }
    default: break
    }
    let isWhole = frame.type <= Frame.Kind.headers.rawValue && frame.flags & 1 == 1
    return isWhole ? perform(frame.stream, &out) : false
  }

  private func perform(_ stream: UInt32, _ out: inout ByteBuffer) -> Bool {
    let count = shared.record.withLock { record in
      record.requests += 1
      record.mostOpen[number] = max(record.mostOpen[number] ?? 0, open.count)
      return record.requests
    }
    let asked = ScriptedPeer.InboundRequest(
      connection: number, stream: stream, count: count, open: open.sorted())
    for reply in shared.script.onRequest(asked) {
      switch reply {
      case .answer(let stream, let status, let body):
        open.removeAll { $0 == stream }
        Frame.write(
          .headers, flags: body.isEmpty ? 5 : 4, stream: stream, Frame.status(status), to: &out)
        if !body.isEmpty {
          Frame.write(.data, flags: 1, stream: stream, Array(body.utf8), to: &out)
        }
      case .reset(let stream, let code):
        open.removeAll { $0 == stream }
        Frame.write(.reset, stream: stream, Frame.word(code), to: &out)
      case .goAway(let last):
        open.removeAll { $0 > last }
        Frame.write(.goAway, stream: 0, Frame.word(last) + Frame.word(0), to: &out)
      case .limit(let limit):
        shared.record.withLock { $0.mostOpen = [:] }
        Frame.write(.settings, stream: 0, [0, 3] + Frame.word(limit), to: &out)
      case .hangUp: return true
      case .nonsense: Frame.write(.data, stream: 0, [1, 2, 3], to: &out)
      case .fallSilent: isSilent = true
      }
    }
    return false
  }
}
