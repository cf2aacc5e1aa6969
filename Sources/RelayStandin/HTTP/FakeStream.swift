import Foundation
import NIOCore
import NIOHTTP1

/// One HTTP/2 stream or HTTP/1.1 connection: gathers a request, lets it be judged, and answers.
protocol FakeStream: AnyObject {
  /// The request that is being received.
  var request: PushRequest? { get set }
  /// Judges a complete request.
  var judge: (PushRequest) -> FakeAnswer { get }
  /// The handler that can reset the connection.
  var gate: Gate? { get }

  func send(_ answer: FakeAnswer, _ context: ChannelHandlerContext)
  func reset(_ context: ChannelHandlerContext)
}

extension FakeStream {
  /// Keeps the first bytes of the body, and counts all of its bytes.
  func received(_ bytes: ByteBuffer) {
    guard var request = request.take() else { return }
    request.bodyBytes += bytes.readableBytes
    let room = PushRequest.bodyBytesKept - request.body.count
    request.body.append(contentsOf: bytes.readableBytesView.prefix(room))
    self.request = request
  }

  /// The request is complete.
  func completed(_ context: ChannelHandlerContext) {
    guard let request = request.take() else { return }
    let answer = judge(request)
    switch answer.action {
    case .mute: break
    case .hangUp: gate?.reset()
    case .reset: reset(context)
    case .send:
      guard answer.delay > 0 else { return send(answer, context) }
      let late = NIOLoopBound(
        {
          // During the delay the client may give up the stream, or the stand-in may stop.
          if context.channel.isActive { self.send(answer, context) }
        }, eventLoop: context.eventLoop)
      context.eventLoop.scheduleTask(in: .milliseconds(answer.delay)) { late.value() }
    }
  }
}

/// One HTTP/2 stream or HTTP/1.1 connection, handled as HTTP/1.1 messages.
final class FakeHTTPStream: ChannelInboundHandler, FakeStream {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  var request: PushRequest?
  let judge: (PushRequest) -> FakeAnswer
  let gate: Gate?

  init(gate: Gate? = nil, judge: @escaping (PushRequest) -> FakeAnswer) {
    self.judge = judge
    self.gate = gate
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      request = PushRequest(
        method: head.method.rawValue, path: head.uri,
        headers: head.headers.map { ($0.name.lowercased(), $0.value) })
    case .body(let bytes): received(bytes)
    case .end: completed(context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The stream or the connection has failed, so no answer can be sent.
    context.close(promise: nil)
  }

  /// With HTTP/2 the close resets the stream; HTTP/1.1 can only close the connection.
  func reset(_ context: ChannelHandlerContext) { context.close(promise: nil) }

  func send(_ answer: FakeAnswer, _ context: ChannelHandlerContext) {
    let length = ("content-length", "\(answer.body.utf8.count)")
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status),
      headers: HTTPHeaders([length] + answer.headers))
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if !answer.body.isEmpty {
      let body = ByteBuffer(string: answer.body)
      context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}
