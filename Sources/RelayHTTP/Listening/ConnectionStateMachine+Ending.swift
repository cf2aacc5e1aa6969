import NIOCore

/// Ends a connection: the connection first sends all its answers to a client that reads them in
/// time.
extension ConnectionStateMachine {
  /// True if the current request is answered and its whole body has not arrived yet.
  var isDiscarding: Bool {
    guard let current, current.isAnswered else { return false }
    return !current.isComplete && !isInputClosed
  }

  mutating func drain() {
    if phase == .open { phase = .draining }
    if current == nil { leave() }
  }

  /// Closes the connection once all its answers have left for the network.
  mutating func leave() {
    if !isLeaving {
      lastHeard = now
      phase = .leaving
    }
    depart()
  }

  mutating func depart() {
    guard isLeaving, phase != .closed, unsent == 0 else { return }
    // If the relay closed the connection while the client still writes, the kernel would reset the
    // connection, and the client would lose the part of the answer that it has not read yet. So the
    // relay waits for the rest of the body, at most `lingering`. After an invalid body, the relay
    // reads nothing more, and the client gets the answer if it reads the answer within that time.
    guard isDiscarding else { return close() }
    guard phase != .lingering else { return }
    phase = .lingering
    actions += [.setTimer(min(idle, Self.lingering)), .closeOutput]
  }

  mutating func close() {
    actions.append(.close)
    // Reads once more so that the TLS handler can receive close_notify.
    if waiting.isEnded { actions.append(.read) }
  }

  /// The client sends no more. All complete requests are answered before the connection ends.
  mutating func endInput() {
    isInputClosed = true
    _ = waiting.removeIncomplete()
    if current?.isGathering == true { current = nil }
    loseClient()
    advance()
  }

  /// Ends the responder's wait for the body, and tells the holder of the request that the client is
  /// gone.
  mutating func loseClient() {
    guard let current else { return }
    if current.isAwaited {
      self.current?.body = .arriving(isAwaited: false)
      actions.append(.failBody(ChannelError.inputClosed))
    }
    if current.isHeld { actions.append(.tellHolder) }
  }

  mutating func end() {
    phase = .closed
    waiting.removeAll()
    refusal = nil
    loseClient()
    current = nil
  }

  mutating func fail(_ failure: Failure) {
    switch failure {
    case .broken: close()
    // Bytes after the last request do not matter.
    case .undecoded: if !waiting.isEnded { close() }
    case .cutOff: break
    case .invalid(let refusal): if isReadable { refuseLater(refusal) }
    }
  }

  /// Refuses bytes once the requests before them are answered.
  mutating func refuseLater(_ refusal: WireError) {
    let isInRequest = waiting.isInRequest
    var head = waiting.removeIncomplete()
    if isInRequest, head == nil, let current, case .gathering(let own) = current.body { head = own }
    waiting.end()
    // The invalid bytes belong to a request that the responder already has.
    guard !isInRequest || head != nil else { return endBody(because: refusal) }
    self.refusal = head?.framingRefusal ?? refusal
    advance()
  }

  mutating func checkTime() {
    guard phase != .lingering else { return close() }
    if let current, !isLeaving, !current.isComplete || !current.isAnswered {
      // The responder has no deadline, but the client must send the whole body within `bodyTime`.
      guard !current.isComplete, !current.isCut, !current.isHeld else {
        return actions.append(.setTimer(idle))
      }
      let rest = current.begun + current.bodyTime - now
      if rest > .zero { return actions.append(.setTimer(rest)) }
      return current.isAnswered ? close() : endBody(because: current.lateness)
    }
    let silence = now - lastHeard
    guard silence < idle else { return close() }
    actions.append(.setTimer(idle - silence))
  }

  /// Reads no more of the current request's body, which is invalid or has not arrived within its
  /// time. Without this time, a few bodies that arrive slowly and never end would use up the memory
  /// for the bodies of all callers. A responder that waits for the body, or asks for more of it,
  /// gets the reason. The connection of a held or answered request ends.
  mutating func endBody(because reason: WireError) {
    guard let current, !current.isAnswered, !current.isHeld else { return leave() }
    handOn(isComplete: false)
    self.current?.body = .cut(reason)
    self.current?.isLast = true
    if current.isAwaited { actions.append(.failBody(reason)) }
    actions.append(.setTimer(idle))
  }

  mutating func hurryBody(within time: TimeAmount) {
    guard let current, !current.isComplete else { return }
    let time = min(idle, time)
    self.current?.bodyTime = time
    actions.append(.setTimer(max(.zero, current.begun + time - now)))
  }
}
