import HTTPTypes
import NIOCore
import NIOHTTP1

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
  /// passed to the responder now, which then reads the rest of the body.
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
    case (_, .late), (_, .complete), (_, nil): break
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
    case .late: actions.append(.failBody(current.lateness))
    case .gathering, .arriving:
      guard !isInputClosed || !waiting.isEmpty else {
        return actions.append(.failBody(ChannelError.inputClosed))
      }
      self.current?.body = .arriving(isAwaited: true)
      advance()
    }
  }
}
