import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// One HTTP/1.1 connection, one request at a time.
///
/// Ours and not Hummingbird's, whose connections keep a task each, 14 KiB before the first request
/// and 23 after it: between requests, and while the courier holds one, this keeps nothing but
/// itself. What it reads in advance is bounded; requests that wait their turn are not read.
///
/// `@unchecked Sendable`: what changes does so on the channel's event loop only.
final class HTTPConnection: ChannelDuplexHandler, @unchecked Sendable {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = Never
  typealias OutboundOut = HTTPServerResponsePart

  /// A request that is read or answered.
  struct CurrentRequest {
    let serial: UInt32
    let begun = NIODeadline.now()
    /// The head of its answer is all that is wanted.
    let isBodiless: Bool
    /// It knows no chunks: an answer of unknown length ends with the connection.
    let isOfHTTP10: Bool
    /// Until it is handed on.
    var head: HTTPRequestHead?
    /// What came of its body at once.
    var body: ByteBuffer?
    var isRead = false
    var isAnswered = false
    /// Bytes of its body that came after its answer, and that nobody wants.
    var passedOver = 0
    /// The courier answers, and nobody else.
    var isHeld = false
    var isClosing: Bool
    /// How long its body may take; nil: as long as silence may.
    var bodyTime: TimeAmount?
    /// Its body did not come in time.
    var isLate = false
    /// Whoever waits for more of the body.
    var reader: CheckedContinuation<ByteBuffer?, any Error>?
    /// Called when the other side is gone before the answer is.
    var onGone: (@Sendable () -> Void)?
  }

  /// Parts of requests that are kept before no more is read.
  private static let waitingMax = 10

  let channel: any Channel
  let idle: TimeAmount
  let ask: @Sendable (InboundRequest) -> Void
  private(set) var context: ChannelHandlerContext?
  /// What is read, and how much of it is taken already.
  private var waiting: [HTTPServerRequestPart] = []
  private var taken = 0
  /// The last part that was read is not the end of its request.
  private var isMidRequest = false
  /// What came behind all that waits, and is no request.
  private var broken: WireError?
  var underWay: CurrentRequest?
  var isInputClosed = false
  var isEnding = false
  /// Nothing more is begun: it closes once all that was answered has left.
  var isLeaving = false
  /// All has left, and the rest of a body is passed over.
  var isLingering = false
  /// Answers that have not left for the network.
  var unsent = 0
  /// The request that is parsed is the last; it is parsed to its end.
  private var isParsingLast = false
  var isParsed = false
  private var last: UInt32 = 0
  private var isReadWanted = false
  private var isReading = false
  private var lastHeard = NIODeadline.now()
  var timer: NIOScheduledCallback?

  /// - Parameters:
  ///   - idle: how long nothing may be heard while nothing is answered.
  ///   - ask: takes a request; it is answered by `send` or held.
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
    // The rest of its body comes later, and only when it is asked for.
    if underWay?.head != nil { handOn() }
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    // What comes behind an upgrade is no HTTP: the parser would keep it all, and parse none of it.
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
    // The last request is whole, and what comes behind it does not matter.
    if isParsed, WireError(parsing: error) != nil || error is ByteToMessageDecoderError { return }
    guard let wrong = WireError(parsing: error), channel.isActive else { return close() }
    // A request that broke off is no bad one; that the other side says no more is told in a moment.
    if let error = error as? HTTPParserError, case .invalidEOFState = error { return }
    // Nothing more is begun, whatever comes.
    guard !isLeaving || isPassingOver else { return }
    let isUnread = isMidRequest
    let head = dropUnfinished()
    guard !isUnread || head != nil else { return close() }
    isParsed = true
    broken = head?.framingRefusal ?? wrong
    advance()
  }

  /// Takes out of what waits what came of a request that never gets whole.
  ///
  /// - Returns: its head, if nobody is asked yet.
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
    // TLS says goodbye, and waits to hear it.
    if isParsed, channel.isActive { context?.read() }
  }

  /// Takes what waits as far as somebody is there for it.
  func advance() {
    // Taking may come back here.
    while taken < waiting.count {
      taken += 1
      guard !take(waiting[taken - 1]) else { continue }
      taken -= 1
      break
    }
    if taken == waiting.count {
      // A read may bring thousands; between requests little is kept.
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

  /// The request before it is answered and read: the next one begins.
  ///
  /// - Parameter head: nil: it was no request.
  func begin(_ head: HTTPRequestHead?) {
    last &+= 1
    underWay = CurrentRequest(
      serial: last, isBodiless: head?.method == .HEAD, isOfHTTP10: head?.isOfHTTP10 ?? false,
      head: head, isClosing: isEnding || head?.isLast != false)
  }

  func restartIdleness() { lastHeard = .now() }
}

extension HTTPRequestHead {
  /// Its connection ends with its answer. One of HTTP/1.0 would have to be told that it does not.
  /// We speak nothing but HTTP/1.1: whoever offers to change to something else is answered, and the
  /// parser stops behind it for good.
  fileprivate var isLast: Bool {
    !isKeepAlive || isOfHTTP10 || method == .CONNECT || headers.contains(name: "upgrade")
  }
}

extension HTTPConnection: NIOScheduledCallbackHandler {
  func handleScheduledCallback(eventLoop: some EventLoop) {
    guard !isLingering else { return close() }
    if let current = underWay, !isLeaving, !current.isRead || !current.isAnswered {
      // Whoever is asked may take its time; whoever asks may not.
      guard !current.isRead, !current.isLate else { return watchIdleness(for: idle) }
      let rest = current.begun + (current.bodyTime ?? idle) - .now()
      return rest > .zero ? watchIdleness(for: rest) : bodyIsLate()
    }
    let silent = NIODeadline.now() - lastHeard
    if silent >= idle { return close() }
    watchIdleness(for: idle - silent)
  }

  func watchIdleness(for time: TimeAmount) {
    // Refused only by a loop that has ended, and its connections with it.
    timer = try? channel.eventLoop.scheduleCallback(in: time, handler: self)
  }
}
