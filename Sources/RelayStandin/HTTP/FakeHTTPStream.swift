import Foundation
import NIOCore
import NIOHTTP1

/// One HTTP/2 stream or HTTP/1.1 connection: gathers a request, lets the provider judge the
/// request, logs it and answers.
final class FakeHTTPStream: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let provider: any FakeProvider
  private let log: PushLog
  private let board: FaultBoard
  private let gate: Gate
  private let failed: (any Error) -> Void
  private var request: PushRequest?

  init(
    provider: any FakeProvider, log: PushLog, board: FaultBoard, gate: Gate,
    failed: @escaping (any Error) -> Void
  ) {
    self.provider = provider
    self.log = log
    self.board = board
    self.gate = gate
    self.failed = failed
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      request = PushRequest(
        connection: 0, method: head.method.rawValue, path: head.uri,
        headers: head.headers.map { ($0.name.lowercased(), $0.value) }, body: Data(), bodyBytes: 0)
    case .body(let bytes):
      guard var request = request.take() else { return }
      request.bodyBytes += bytes.readableBytes
      let room = PushRequest.bodyBytesKept - request.body.count
      request.body.append(contentsOf: bytes.readableBytesView.prefix(room))
      self.request = request
    case .end: judge(context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The stream or the connection has failed, so no answer can be sent.
    context.close(promise: nil)
  }

  private func judge(_ context: ChannelHandlerContext) {
    guard let request = request.take() else { return }
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    let faults = board.faults
    let number = board.count()
    let hangsUp = faults.hangUpEvery.map(number.isMultiple(of:)) ?? false
    let resets = faults.resetEvery.map(number.isMultiple(of:)) ?? false
    let isTaken = !(faults.isSilent || hangsUp || resets)
    do {
      let answer =
        isTaken
        ? try provider.answer(request, under: faults) ?? provider.answer(request, at: now) : nil
      try log.append(line: line(request, answer, at: now))
      if hangsUp { return gate.reset() }
      // With HTTP/2 the close resets the stream; HTTP/1.1 can only close the connection.
      if resets { return context.close(promise: nil) }
      guard let answer else { return }
      let delay = max(answer.delaySeconds * 1_000, faults.slow ?? 0)
      guard delay > 0 else { return send(answer, context) }
      context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(delay)) {
        // The client may have given up the stream during the delay.
        if context.channel.isActive { self.send(answer, context) }
      }
    } catch {
      failed(error)
    }
  }

  private func line(
    _ request: PushRequest, _ answer: FakeProviderAnswer?, at milliseconds: Int64
  ) throws -> String {
    var members = provider.record(of: request)
    members["time"] = PushLog.time(milliseconds)
    members["path"] = request.path
    members["headers"] = Dictionary(request.headers) { "\($0), \($1)" }
    members["status"] = answer?.status ?? 0
    members["reason"] = answer == nil ? "NoAnswer" : answer?.reason
    return try PushLog.json(members) + "\n"
  }

  private func send(_ answer: FakeProviderAnswer, _ context: ChannelHandlerContext) {
    var headers = HTTPHeaders([("content-length", "\(answer.body.utf8.count)")])
    for (name, value) in answer.headers.sorted(by: { $0.key < $1.key }) {
      headers.add(name: name, value: value)
    }
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if !answer.body.isEmpty {
      let body = ByteBuffer(string: answer.body)
      context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}
