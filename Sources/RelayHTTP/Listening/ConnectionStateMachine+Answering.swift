import NIOCore

/// Decides whether the responder or the holder may answer a request, and what follows the answer.
extension ConnectionStateMachine {
  /// Asks whether a part of an answer may be written now.
  ///
  /// - Parameters:
  ///   - isHolder: true if the courier, which holds the request, writes the part.
  ///   - isInterim: true if the part is the head of an interim answer, which HTTP/1.0 does not
  ///     have.
  ///   - isLast: true if the part is the last of its answer. The caller then also passes the inputs
  ///     `answerWritten` and `answerLeft`.
  /// - Returns: how to write the part; nil means that the part must be dropped.
  package mutating func beginWriting(
    serial: UInt32, isHolder: Bool, isInterim: Bool, isLast: Bool
  ) -> AnswerForm? {
    guard let current, current.serial == serial, case .due(isHeld: isHolder) = current.answer,
      !isInterim || !current.isOfHTTP10
    else { return nil }
    if isLast { unsent += 1 }
    return AnswerForm(
      isLast: isLastAnswer, isOfHTTP10: current.isOfHTTP10, isBodiless: current.isBodiless)
  }

  /// Lets only the holder answer the current request.
  ///
  /// - Returns: the request's serial; nil if the request is answered already, or the client sends
  ///   no more.
  /// - Throws: why the rest of the body will not be read.
  package mutating func hold() throws(WireError) -> UInt32? {
    if case .cut(let reason)? = current?.body { throw reason }
    guard let current, !current.isAnswered, !isInputClosed else { return nil }
    self.current?.answer = .due(isHeld: true)
    return current.serial
  }

  /// Lets the responder answer a held request again.
  package mutating func release(serial: UInt32) {
    if isHeld(serial: serial) { current?.answer = .due(isHeld: false) }
  }

  package func isHeld(serial: UInt32) -> Bool {
    current.map { $0.serial == serial && $0.isHeld } ?? false
  }

  /// Answers bytes that are no valid request, in the same way as a request. Nothing after these
  /// bytes is read.
  mutating func refuse(_ refusal: WireError) {
    if current == nil { begin(valid: nil) }
    waiting.end()
    answer(refusal)
    current?.body = .complete
  }

  /// Answers with the refusal without the responder, and ends the connection after this answer. The
  /// rest of a body is discarded.
  mutating func answer(_ refusal: WireError) {
    guard let current else { return }
    self.current?.body = .arriving(isAwaited: false)
    self.current?.first = nil
    self.current?.isLast = true
    actions.append(.refuse(refusal, serial: current.serial))
  }

  mutating func finishAnswer(to serial: UInt32) {
    guard let current, current.serial == serial, !current.isAnswered else { return }
    if current.isAwaited {
      self.current?.body = .arriving(isAwaited: false)
      actions.append(.failBody(ChannelError.inputClosed))
    }
    self.current?.answer = .written(discarded: 0)
    settle()
    advance()
  }

  /// Ends an answered request once its whole body has been read, so that the next request can
  /// begin.
  mutating func settle() {
    guard let current, current.isAnswered else { return }
    if isLastAnswer { leave() }
    guard current.isComplete, !isLeaving else { return }
    self.current = nil
    lastHeard = now
  }

  var isLastAnswer: Bool {
    phase != .open || current?.isLast == true || isInputClosed && waiting.isEmpty
  }
}
