import HTTPTypes
package import NIOCore
import NIOHTTP1

/// Decides what one HTTP/1.1 connection does: it answers one request at a time, in order. The state
/// machine has no channel and no clock: `HTTPConnection` passes inputs to `handle` and performs the
/// actions that `handle` returns.
///
/// Memory is bounded: while `WaitingParts.countMax` parts or more wait, no further read begins.
package struct ConnectionStateMachine: Sendable {
  /// How near the connection is to its end. The phase never goes back to an earlier case.
  enum Phase: Int {
    case open
    /// The connection ends after the answers to the requests that have begun.
    case draining
    /// No further request begins. The connection closes once all answers have left.
    case leaving
    /// All answers have left, and the rest of a body is discarded.
    case lingering
    case closed
  }

  /// After its last answer, the connection waits at most `lingering` for the rest of the request's
  /// body. After any answer, it discards at most `discardedMax` bytes of the request's body.
  static let lingering = TimeAmount.seconds(5)
  package static let discardedMax = 16 * 1_024 * 1_024

  let idle: TimeAmount
  var phase = Phase.open
  var current: CurrentRequest?
  var waiting = WaitingParts()
  /// The answer to invalid bytes that arrived after all waiting parts; `nil` means that there are
  /// no such bytes.
  var refusal: WireError?
  var serial: UInt32 = 0
  /// How many answers have not left for the network.
  var unsent = 0
  var isInputClosed = false
  /// True if a read was postponed until fewer parts wait.
  var isReadWanted = false
  /// True if the parser may deliver more parts of the bytes read last.
  var isReading = false
  var lastHeard: NIODeadline
  /// Whether the channel was writable when the current input came; `now` is the time of that input.
  var isWritable = true
  var now: NIODeadline
  var actions: [Action] = []

  /// - Parameter idle: the connection closes if nothing arrives for this long while no answer is
  ///   due; a body must arrive within this time.
  package init(idle: TimeAmount, at now: NIODeadline) {
    self.idle = idle
    self.now = now
    lastHeard = now
  }

  var isLeaving: Bool { phase.rawValue >= Phase.leaving.rawValue }

  /// - Parameter isWritable: false while the client does not read its answers. No request begins
  ///   during this time, because a waiting request takes less memory than an answer.
  /// - Returns: the actions to perform, in this order. Performing an action may cause a further
  ///   input at once.
  package mutating func handle(
    _ input: Input, isWritable: Bool, at now: NIODeadline
  ) -> [Action] {
    (self.isWritable, self.now) = (isWritable, now)
    switch input {
    case .received(let part): receive(part)
    case .readEnded: endRead()
    case .writabilityChanged: advance()
    case .inputClosed: endInput()
    case .failed(let failure): fail(failure)
    case .draining: drain()
    case .closed: end()
    case .bodyAwaited(let serial): awaitBody(of: serial)
    case .bodyHurried(let time): hurryBody(within: time)
    case .answerWritten(let serial): finishAnswer(to: serial)
    case .answerLeft:
      unsent -= 1
      depart()
    case .timerFired: checkTime()
    }
    var actions: [Action] = []
    swap(&actions, &self.actions)
    return actions
  }
}

/// Takes requests from the parts that the parser delivers, and passes the requests to the
/// responder.
extension ConnectionStateMachine {
  /// - Returns: false if nothing may be read now. If the reason is that too many parts wait, the
  ///   action `read` follows when there is room.
  package mutating func mayRead() -> Bool {
    guard isReadable else { return false }
    isReadWanted = waiting.isFull
    return !isReadWanted
  }

  /// False if no further bytes may be read. Bytes after the last request need not be HTTP, and the
  /// parser would keep all of them in memory.
  var isReadable: Bool { !waiting.isEnded && (!isLeaving || isDiscarding) }

  mutating func receive(_ part: HTTPServerRequestPart) {
    if !isLeaving { lastHeard = now }
    isReading = true
    waiting.append(part)
    advance()
  }

  /// All parts of one read have been received. A request whose body has not arrived completely is
  /// now passed to the responder, which then reads the rest of the body.
  mutating func endRead() {
    isReading = false
    handOn(isComplete: false)
  }

  /// Takes the waiting parts in order, up to the first part that cannot be taken yet.
  mutating func advance() {
    while let part = waiting.first, canTake(part) {
      waiting.removeFirst()
      take(part)
    }
    waiting.trim()
    if waiting.isEmpty, !isLeaving {
      if current?.isGathering ?? true, let refusal = refusal.take() { return refuse(refusal) }
      if isInputClosed, current?.isAnswered ?? true { return leave() }
    }
    if !isReading { handOn(isComplete: false) }
    guard isReadWanted, isReadable, !waiting.isFull else { return }
    isReadWanted = false
    actions.append(.read)
  }

  func canTake(_ part: HTTPServerRequestPart) -> Bool {
    if case .head = part { return isLeaving || current == nil && isWritable }
    guard let current else { return true }
    return current.isAnswered || current.isGathering || current.isAwaited
  }

  mutating func take(_ part: HTTPServerRequestPart) {
    switch part {
    case .head(let head): if !isLeaving { begin(head) }
    case .body(let bytes): take(bytes)
    case .end: takeEnd()
    }
  }

  mutating func begin(_ head: HTTPRequestHead) {
    begin(valid: head)
    if let refusal = head.framingRefusal {
      refuse(refusal)
    } else if let refusal = head.refusal {
      answer(refusal)
    }
  }

  mutating func begin(valid head: HTTPRequestHead?) {
    serial &+= 1
    current = CurrentRequest(
      head, serial: serial, begun: now, bodyTime: idle, isLast: phase != .open)
  }

  mutating func take(_ bytes: ByteBuffer) {
    switch (current?.answer, current?.body) {
    case (.written(let discarded), _):
      current?.answer = .written(discarded: discarded + bytes.readableBytes)
      if discarded + bytes.readableBytes > Self.discardedMax { close() }
    case (_, .gathering):
      if current?.first?.writeImmutableBuffer(bytes) == nil { current?.first = bytes }
    case (_, .arriving): deliver(bytes)
    case (_, .cut), (_, .complete), (_, nil): break
    }
  }

  mutating func takeEnd() {
    guard let current, !current.isComplete else { return }
    if current.isGathering { return handOn(isComplete: true) }
    self.current?.body = .complete
    if current.isAnswered {
      settle()
    } else {
      actions.append(.deliver(nil))
    }
  }

  mutating func deliver(_ bytes: ByteBuffer) {
    current?.body = .arriving(isAwaited: false)
    actions.append(.deliver(bytes))
  }

  /// Passes the current request to the responder, if the responder does not have it yet.
  mutating func handOn(isComplete: Bool) {
    guard let current, case .gathering(let head) = current.body else { return }
    guard let request = HTTPRequest(head) else {
      return refuse(WireError(HTTPParserError.invalidMethod))
    }
    self.current?.first = nil
    self.current?.body = isComplete ? .complete : .arriving(isAwaited: false)
    let body: ReceivedBody =
      isComplete ? .complete(current.first ?? ByteBuffer()) : .arriving(first: current.first)
    actions.append(.respond(request, body, serial: current.serial))
  }

  mutating func awaitBody(of serial: UInt32) {
    guard let current, current.serial == serial, !current.isAnswered else {
      return actions.append(.failBody(ChannelError.inputClosed))
    }
    switch current.body {
    case .complete: actions.append(.deliver(nil))
    case .cut(let reason): actions.append(.failBody(reason))
    case .gathering, .arriving:
      guard !isInputClosed || !waiting.isEmpty else {
        return actions.append(.failBody(ChannelError.inputClosed))
      }
      self.current?.body = .arriving(isAwaited: true)
      advance()
    }
  }
}
