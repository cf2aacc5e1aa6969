import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2

/// One HTTP/2 stream of the APNs stand-in, handled frame by frame.
final class PushStream: ChannelInboundHandler, FakeStream {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  var request: PushRequest?
  let judge: (PushRequest) -> FakeAnswer
  let gate: Gate?
  private let connection: FakeConnection
  private let failed: (any Error) -> Void
  private var hasBegun = false
  /// True if the request's last frame was read.
  private var isComplete = false
  /// The stream's number, from the beginning of the stream's request to the end of the stream; nil
  /// before and after, and if the connection does not serve the stream.
  private var served: HTTP2StreamID?

  init(connection: FakeConnection, gate: Gate, server: FakeServer) {
    self.connection = connection
    self.gate = gate
    judge = { server.answer($0) }
    failed = { server.fail($0) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let headers): read(headers, context)
    case .data(let data):
      if case .byteBuffer(let bytes) = data.data { received(bytes) }
      isComplete = data.endStream
    case .rstStream: request = nil
    default: break
    }
  }

  /// Judges a complete request once all frames that arrived with it are read. A client may have
  /// reset the stream right after the request; an answer would then be an error of the connection.
  func channelReadComplete(context: ChannelHandlerContext) {
    if isComplete { completed(context) }
    context.fireChannelReadComplete()
  }

  func channelInactive(context: ChannelHandlerContext) {
    if let served { connection.ended(served) }
    (request, served) = (nil, nil)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The client reset the stream. `channelInactive` follows and cleans up.
    context.close(promise: nil)
  }

  private func read(_ headers: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext) {
    guard !hasBegun else { return }
    do {
      guard let id = try context.channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
      else { return failed(ChannelError.operationUnsupported) }
      hasBegun = true
      guard connection.began(id) else { return }
      served = id
    } catch {
      return failed(error)
    }
    let fields = headers.headers
    request = PushRequest(
      connection: connection.number, method: fields.first(name: ":method") ?? "",
      path: fields.first(name: ":path") ?? "",
      headers: fields.filter { !$0.name.hasPrefix(":") }.map { ($0.name, $0.value) },
      certificate: connection.certificate)
    isComplete = headers.endStream
  }

  func reset(_ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(.rstStream(.internalError)), promise: nil)
  }

  func send(_ answer: FakeAnswer, _ context: ChannelHandlerContext) {
    let headers = HPACKHeaders([(":status", "\(answer.status)")] + answer.headers)
    let head = HTTP2Frame.FramePayload.Headers(headers: headers, endStream: answer.body.isEmpty)
    context.write(wrapOutboundOut(.headers(head)), promise: nil)
    if !answer.body.isEmpty {
      let data = HTTP2Frame.FramePayload.Data(
        data: .byteBuffer(ByteBuffer(string: answer.body)), endStream: true)
      context.write(wrapOutboundOut(.data(data)), promise: nil)
    }
    context.flush()
  }
}
