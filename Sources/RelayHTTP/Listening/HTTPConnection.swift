import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// One HTTP/1.1 connection, one request at a time.
///
/// This class replaces Hummingbird's connections, each of which keeps a task, 14 KiB before the
/// first request and 23 KiB after it. Between requests, and while the courier holds a request, this
/// class keeps nothing but itself. What it reads in advance is bounded; requests that wait for
/// their turn are not read.
///
/// `@unchecked Sendable`: all that changes does so on the channel's event loop only.
final class HTTPConnection: ChannelDuplexHandler, @unchecked Sendable {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = Never
  typealias OutboundOut = HTTPServerResponsePart

  /// A request that is being read or answered.
  struct CurrentRequest {
    let serial: UInt32
    let begun = NIODeadline.now()
    /// The client wants only the head of the answer.
    let isBodiless: Bool
    /// The client does not know chunks: an answer of unknown length ends with the connection.
    let isOfHTTP10: Bool
    /// The request's head until the responder gets it; then nil.
    var head: HTTPRequestHead?
    /// The part of the body that arrived together with the head.
    var body: ByteBuffer?
    var isRead = false
    var isAnswered = false
    /// Bytes of the body that arrived after the answer and were discarded.
    var passedOver = 0
    /// True if only the courier may answer this request.
    var isHeld = false
    var isClosing: Bool
    /// How long the body may take; nil: `idle`.
    var bodyTime: TimeAmount?
    /// The body did not arrive in time.
    var isLate = false
    /// The responder's task that waits for more of the body.
    var reader: CheckedContinuation<ByteBuffer?, any Error>?
    /// Called when the client disconnects before the answer is complete.
    var onGone: (@Sendable () -> Void)?
  }

  /// How many parts of requests may wait before the connection stops reading.
  private static let waitingMax = 10

  let channel: any Channel
  let idle: TimeAmount
  let ask: @Sendable (InboundRequest) -> Void
  private(set) var context: ChannelHandlerContext?
  /// The parts that have been read, and how many of them are taken already.
  private var waiting: [HTTPServerRequestPart] = []
  private var taken = 0
  /// The last part that was read is not the end of its request.
  private var isMidRequest = false
  /// The error for bytes that follow all waiting parts and are no valid request.
  private var broken: WireError?
  var underWay: CurrentRequest?
  var isInputClosed = false
  var isEnding = false
  /// No further request begins: the connection closes once all its answers have left.
  var isLeaving = false
  /// All answers have left, and the rest of a body is discarded.
  var isLingering = false
  /// How many answers have not left for the network.
  var unsent = 0
  /// `isParsingLast`: the request being parsed is the last. `isParsed`: it is parsed to its end.
  private var isParsingLast = false
  var isParsed = false
  private var last: UInt32 = 0
  private var isReadWanted = false
  private var isReading = false
  private var lastHeard = NIODeadline.now()
  var timer: NIOScheduledCallback?

  /// - Parameters:
  ///   - idle: the connection closes if nothing arrives for this long while no answer is due.
  ///   - ask: takes a request, which `send` then answers, or which is held.
  init(channel: any Channel, idle: TimeAmount, ask: @escaping @Sendable (InboundRequest) -> Void) {
    self.channel = channel
    self.idle = idle
    self.ask = ask
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    watchIdleness(for: idle)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer?.cancel()
    timer = nil
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if !isLeaving { lastHeard = .now() }
    let part = unwrapInboundIn(data)
    if case .head(let head) = part { isParsingLast = head.isLast }
    isMidRequest = true
    if case .end = part { (isMidRequest, isParsed) = (false, isParsingLast) }
    isReading = true
    waiting.append(part)
    advance()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    // The rest of the body is read later, and only when the responder reads it.
    if underWay?.head != nil { handOn() }
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    // Bytes after an upgrade are not HTTP: the parser would keep them all, and parse none of them.
    guard !isParsed, !isLeaving || isPassingOver else { return }
    isReadWanted = waiting.count - taken >= Self.waitingMax
    if !isReadWanted { context.read() }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    advance()
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    let lost = underWay
    underWay = nil
    (waiting, taken, broken) = ([], 0, nil)
    lost?.reader?.resume(throwing: ChannelError.inputClosed)
    lost?.onGone?()
    timer?.cancel()
    timer = nil
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed: inputEnded()
    case is ChannelShouldQuiesceEvent:
      isEnding = true
      if underWay == nil { leave() }
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The last request is complete, and bytes after it do not matter.
    if isParsed, WireError(parsing: error) != nil || error is ByteToMessageDecoderError { return }
    guard let wrong = WireError(parsing: error), channel.isActive else { return close() }
    // An interrupted request is not a bad one. The event `inputClosed` follows it.
    if let error = error as? HTTPParserError, case .invalidEOFState = error { return }
    // The connection is ending, so no further request begins, whatever arrives.
    guard !isLeaving || isPassingOver else { return }
    let isUnread = isMidRequest
    let head = dropUnfinished()
    guard !isUnread || head != nil else { return close() }
    isParsed = true
    broken = head?.framingRefusal ?? wrong
    advance()
  }

  /// Removes from the waiting parts those of a request that will never be complete.
  ///
  /// - Returns: the request's head, if the responder does not have the request yet.
  @discardableResult
  func dropUnfinished() -> HTTPRequestHead? {
    guard isMidRequest else { return nil }
    isMidRequest = false
    let start = waiting[taken...].lastIndex { if case .head = $0 { true } else { false } }
    guard let start, case .head(let head) = waiting[start] else { return underWay?.head }
    waiting.removeSubrange(start...)
    return head
  }

  var isAnyWaiting: Bool { taken < waiting.count }

  func close() {
    context?.close(promise: nil)
    // Read once more so that the TLS handler can receive close_notify.
    if isParsed, channel.isActive { context?.read() }
  }

  /// Takes the waiting parts in order, up to the first that cannot be taken yet.
  func advance() {
    // `take` may call this function again.
    while taken < waiting.count {
      taken += 1
      guard !take(waiting[taken - 1]) else { continue }
      taken -= 1
      break
    }
    if taken == waiting.count {
      // One read may bring thousands of parts; between requests the connection keeps little memory.
      waiting.removeAll(keepingCapacity: waiting.count <= Self.waitingMax)
      taken = 0
    } else if taken > max(Self.waitingMax, waiting.count / 2) {
      waiting.removeFirst(taken)
      taken = 0
    }
    if taken == waiting.count, !isLeaving {
      let isFree = underWay.map { $0.head != nil } ?? true
      if isFree, let wrong = broken.take() { return refuse(wrong) }
      if isInputClosed, underWay?.isAnswered ?? true { return leave() }
    }
    if !isReading, underWay?.head != nil { handOn() }
    guard isReadWanted, !isParsed, !isLeaving || isPassingOver,
      waiting.count - taken < Self.waitingMax
    else { return }
    isReadWanted = false
    context?.read()
  }

  /// Begins the next request, after the one before it has been answered and read.
  ///
  /// - Parameter head: nil: the bytes are no valid request.
  func begin(_ head: HTTPRequestHead?) {
    last &+= 1
    underWay = CurrentRequest(
      serial: last, isBodiless: head?.method == .HEAD, isOfHTTP10: head?.isOfHTTP10 ?? false,
      head: head, isClosing: isEnding || head?.isLast != false)
  }

  func restartIdleness() { lastHeard = .now() }
}

extension HTTPRequestHead {
  /// True if the connection ends with the answer. An HTTP/1.0 client would have to be told that it
  /// stays open. The relay speaks only HTTP/1.1: a request that offers an upgrade is answered as
  /// HTTP/1.1, and the parser stops after that request for good.
  fileprivate var isLast: Bool {
    !isKeepAlive || isOfHTTP10 || method == .CONNECT || headers.contains(name: "upgrade")
  }
}

extension HTTPConnection: NIOScheduledCallbackHandler {
  func handleScheduledCallback(eventLoop: some EventLoop) {
    guard !isLingering else { return close() }
    if let current = underWay, !isLeaving, !current.isRead || !current.isAnswered {
      // Handlers have no deadline. Clients must finish the body within `bodyTime`, or else `idle`.
      guard !current.isRead, !current.isLate else { return watchIdleness(for: idle) }
      let rest = current.begun + (current.bodyTime ?? idle) - .now()
      return rest > .zero ? watchIdleness(for: rest) : bodyIsLate()
    }
    let silent = NIODeadline.now() - lastHeard
    if silent >= idle { return close() }
    watchIdleness(for: idle - silent)
  }

  func watchIdleness(for time: TimeAmount) {
    // Fails only on a loop that has ended, and its connections with it.
    timer = try? channel.eventLoop.scheduleCallback(in: time, handler: self)
  }
}
