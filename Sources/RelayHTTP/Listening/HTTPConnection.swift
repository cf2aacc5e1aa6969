import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// One HTTP/1.1 connection: passes what happens on its channel to a `ConnectionStateMachine`, and
/// performs the actions that the state machine returns.
///
/// This class replaces Hummingbird's connections, each of which keeps a task and takes 14 KiB of
/// memory before its first request and 23 KiB afterwards. Between requests, and while the courier
/// holds a request, this class keeps nothing but itself.
///
/// `@unchecked Sendable`: all mutable properties are used on the channel's event loop only.
final class HTTPConnection: ChannelDuplexHandler, @unchecked Sendable {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = Never
  typealias OutboundOut = HTTPServerResponsePart

  /// A part of an answer, whose head and body are written together.
  struct ResponsePart: Sendable {
    var head: HTTPResponse?
    var body: [ByteBuffer] = []
    var isLast = true
  }

  let channel: any Channel
  private let idle: TimeAmount
  private let ask: @Sendable (InboundRequest) -> Void
  private var context: ChannelHandlerContext?
  private var state: ConnectionStateMachine
  /// The responder's task that waits for more of the body.
  private var reader: CheckedContinuation<ByteBuffer?, any Error>?
  /// Called when the client disconnects before the answer to a held request is complete.
  private var onGone: (@Sendable () -> Void)?
  private var timer: NIOScheduledCallback?

  /// - Parameters:
  ///   - idle: the connection closes if nothing arrives for this long while no answer is due.
  ///   - ask: takes a request, which must then be answered with `send`, or held.
  init(channel: any Channel, idle: TimeAmount, ask: @escaping @Sendable (InboundRequest) -> Void) {
    (self.channel, self.idle, self.ask) = (channel, idle, ask)
    state = ConnectionStateMachine(idle: idle, at: channel.eventLoop.now)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    setTimer(idle)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer?.cancel()
    timer = nil
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    handle(.received(unwrapInboundIn(data)))
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    handle(.readEnded)
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    if state.mayRead() { context.read() }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    handle(.writabilityChanged)
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    handle(.closed)
    timer?.cancel()
    timer = nil
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed: handle(.inputClosed)
    case is ChannelShouldQuiesceEvent: handle(.draining)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    handle(.failed(channel.isActive ? .init(error) : .broken))
  }

  private func handle(_ input: ConnectionStateMachine.Input) {
    for action in state.handle(input, isWritable: channel.isWritable, at: channel.eventLoop.now) {
      perform(action)
    }
  }

  private func perform(_ action: ConnectionStateMachine.Action) {
    switch action {
    case .respond(let head, let received, let serial):
      let body =
        switch received {
        case .complete(let bytes): RequestBody(buffer: bytes)
        case .arriving(let first):
          RequestBody(asyncSequence: LateBody(first: first, connection: self, serial: serial))
        }
      let request = Request(head: head, body: body)
      ask(InboundRequest(content: .success(request), connection: self, serial: serial))
    case .refuse(let refusal, let serial):
      ask(InboundRequest(content: .failure(refusal), connection: self, serial: serial))
    case .deliver(let bytes): reader.take()?.resume(returning: bytes)
    case .failBody(let error): reader.take()?.resume(throwing: error)
    case .tellHolder: onGone.take()?()
    case .read: if channel.isActive { context?.read() }
    case .setTimer(let time): setTimer(time)
    case .closeOutput: if channel.isActive { context?.close(mode: .output, promise: nil) }
    case .close: context?.close(promise: nil)
    }
  }

  private func setTimer(_ time: TimeAmount) {
    timer?.cancel()
    // The call fails only if the event loop has ended, and then its connections have ended too.
    timer = try? channel.eventLoop.scheduleCallback(in: time, handler: self)
  }
}

extension HTTPConnection: NIOScheduledCallbackHandler {
  func handleScheduledCallback(eventLoop: some EventLoop) {
    // The callback has run, so it need not be cancelled. Cancelling a callback would search all
    // callbacks of the event loop.
    timer = nil
    handle(.timerFired)
  }
}

extension HTTPConnection {
  /// The next part of the body; nil after the end of the body.
  func nextPart(of serial: UInt32) async throws -> ByteBuffer? {
    try await withCheckedThrowingContinuation { reader in
      channel.eventLoop.execute {
        let waiting = self.reader
        self.reader = reader
        self.handle(.bodyAwaited(serial: serial))
        // A call for an earlier request fails at once. The reader of the current request then still
        // waits.
        if self.reader == nil { self.reader = waiting }
      }
    }
  }

  /// Gives the body of the current request less time than other bodies, because the sender is not
  /// known yet.
  static func hurryBody(on channel: any Channel, within seconds: Int) {
    channel.eventLoop.execute {
      // The lookup fails on a closed connection, and in tests that call controllers without a
      // connection.
      let found = try? channel.pipeline.syncOperations.handler(type: HTTPConnection.self)
      found?.handle(.bodyHurried(.seconds(Int64(seconds))))
    }
  }

  /// Lets only the holder answer the current request.
  ///
  /// - Parameter hold: takes the request's serial. Returns the function to call once if the client
  ///   disconnects before the answer is complete, or nil in order not to hold the request.
  /// - Returns: true if the request is held, false if `hold` returned nil; nil if the client sends
  ///   no more, or the request was answered already.
  /// - Throws: why the rest of the request's body will not be read.
  func hold(_ hold: (UInt32) -> (@Sendable () -> Void)?) throws(WireError) -> Bool? {
    guard let serial = try state.hold() else { return nil }
    guard let onGone = hold(serial) else {
      state.release(serial: serial)
      return false
    }
    if state.isHeld(serial: serial) {
      self.onGone = onGone
    } else if !channel.isActive {
      // `hold` wrote a part at once, and the connection broke during this write.
      onGone()
    }
    return true
  }

  /// Writes a part of an answer. Writes nothing if the request is held, or was answered.
  ///
  /// Returns once the part has left for the network, or is dropped.
  func send(_ part: ResponsePart, for serial: UInt32) async throws {
    let promise = channel.eventLoop.makePromise(of: Void.self)
    channel.eventLoop.execute { self.write(part, for: serial, isHolder: false, promise) }
    try await promise.futureResult.get()
  }

  /// Writes a part of an answer, for the responder or for the holder of the request.
  ///
  /// - Parameter promise: succeeds once the part has left for the network, or if a part of the
  ///   responder is dropped. Fails if the connection has closed, or if a part of the holder is
  ///   dropped.
  func write(
    _ part: ResponsePart, for serial: UInt32, isHolder: Bool, _ promise: EventLoopPromise<Void>
  ) {
    guard let context, channel.isActive else { return promise.fail(ChannelError.ioOnClosedChannel) }
    let isInterim = part.head?.status.kind == .informational
    let form = state.beginWriting(
      serial: serial, isHolder: isHolder, isInterim: isInterim, isLast: part.isLast)
    guard let form else { return isHolder ? promise.fail(ChannelError.eof) : promise.succeed() }
    if let head = part.head {
      context.write(wrapOutboundOut(.head(HTTPResponseHead(head, form))), promise: nil)
    }
    let body = form.isBodiless ? [] : part.body
    var parts = body.map { HTTPServerResponsePart.body(.byteBuffer($0)) }
    if part.isLast { parts.append(.end(nil)) }
    guard let end = parts.popLast() else {
      context.flush()
      return promise.succeed()
    }
    for part in parts { context.write(wrapOutboundOut(part), promise: nil) }
    if part.isLast { promise.futureResult.whenComplete { _ in self.handle(.answerLeft) } }
    context.writeAndFlush(wrapOutboundOut(end), promise: promise)
    if part.isLast {
      onGone = nil
      handle(.answerWritten(serial: serial))
    }
  }
}

/// A body that did not arrive with its head. The body is read from the network only as fast as the
/// responder takes it.
struct LateBody: AsyncSequence, AsyncIteratorProtocol, Sendable {
  var first: ByteBuffer?
  let connection: HTTPConnection
  let serial: UInt32

  mutating func next() async throws -> ByteBuffer? {
    if let first = first.take() { return first }
    return try await connection.nextPart(of: serial)
  }

  func makeAsyncIterator() -> LateBody { self }
}
