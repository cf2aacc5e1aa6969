import NIOCore

/// One HTTP/1.1 keep-alive connection: sends its caller's requests, one at a time.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only. NIO's `@Sendable`
/// initialisers require the conformance.
final class LoadConnection: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let caller: any LoadCaller
  let finished: EventLoopPromise<Void>
  private var scanner = AnswerScanner()
  private var due = NIODeadline.now()
  private var context: ChannelHandlerContext?
  private var isFinished = false

  init(_ caller: any LoadCaller, finished: EventLoopPromise<Void>) {
    self.caller = caller
    self.finished = finished
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    finish(.failure(BenchError("the server closed a connection")))
  }

  func close() { context?.close(promise: nil) }

  /// Sends the first request; all connections are open by now.
  func begin() { proceed(after: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    scanner.append(&bytes)
    do {
      while var answer = try scanner.next() {
        answer.took = .now() - due
        proceed(after: answer)
      }
    } catch {
      finish(.failure(error))
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { finish(.failure(error)) }

  private func proceed(after answer: LoadAnswer?) {
    guard !isFinished, let context else { return }
    do {
      switch try caller.next(after: answer) {
      case .send(let request):
        due = .now()
        write(request)
      case .sendAt(let moment, let request):
        due = moment
        context.eventLoop.assumeIsolated().scheduleTask(deadline: moment) { self.write(request) }
      case .done: finish(.success(()))
      }
    } catch {
      finish(.failure(error))
    }
  }

  private func write(_ request: ByteBuffer) {
    context?.writeAndFlush(wrapOutboundOut(request), promise: nil)
  }

  private func finish(_ result: Result<Void, any Error>) {
    guard !isFinished else { return }
    isFinished = true
    finished.completeWith(result)
    close()
  }
}
