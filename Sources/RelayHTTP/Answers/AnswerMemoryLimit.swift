import Synchronization

/// Bounds the memory of answers that are being written or wait until clients read them, in total
/// and for each caller. An answer may exceed the caller's bound while the caller has no other
/// answer, and the total bound while there is no other answer at all. Otherwise an answer larger
/// than a bound could never be sent.
final class AnswerMemoryLimit: Sendable {
  private let limits: HTTPLimits
  private let state = Mutex(Shares<CallerID>(most: .max))

  init(_ limits: HTTPLimits) { self.limits = limits }

  /// The bytes of all answers.
  var bytes: Int { state.withLock { $0.all } }

  /// Reserves the room of one answer before the request is carried out. The room has no bytes at
  /// first; `AnswerRoom.grow` enlarges it.
  ///
  /// - Throws: `WireError` if no room is left.
  func room(for caller: CallerID) throws(WireError) -> AnswerRoom {
    // Checks for one byte without taking it, so that a request refused here takes no room.
    try state.withLock { shares throws(WireError) in
      try check(shares, caller, more: 1, beside: 0)
    }
    return AnswerRoom(self, for: caller)
  }

  /// - Parameters:
  ///   - held: the bytes of memory that the answer has taken already.
  ///   - isDone: true if the request has been carried out; its answer is then sent in any case.
  fileprivate func take(
    _ bytes: Int, beside held: Int, for caller: CallerID, isDone: Bool
  ) throws(WireError) {
    try state.withLock { shares throws(WireError) in
      if !isDone { try check(shares, caller, more: bytes, beside: held) }
      _ = shares.take(bytes, for: caller, share: .max)
    }
  }

  private func check(
    _ shares: Shares<CallerID>, _ caller: CallerID, more: Int, beside held: Int
  ) throws(WireError) {
    let own = shares.taken(by: caller)
    guard own == held || own + more <= limits.answerBytesPerCaller else {
      throw WireError(
        .throttled, "too many bytes of answers wait for this caller; read them",
        retryAfterSeconds: 1)
    }
    // If the caller has another answer, all answers together may take only half of the limit. So
    // the other half stays free for first answers, even if a few callers read none of theirs.
    let most = own == held ? limits.answerBytesInFlight : limits.answerBytesInFlight / 2
    guard shares.all == held || shares.all + more <= most else {
      throw WireError(
        .tryAgainLater, "too many answers wait to be read; repeat the whole request",
        retryAfterSeconds: 1)
    }
  }

  fileprivate func giveBack(_ bytes: Int, of caller: CallerID) {
    state.withLock { $0.giveBack(bytes, of: caller) }
  }
}

/// The memory counted for one request's answer, until the last reference to this object is gone.
/// The answer's body holds a reference until the body has left for the network, or is dropped.
final class AnswerRoom: Sendable {
  private let limit: AnswerMemoryLimit
  private let caller: CallerID
  private let bytes = Mutex(0)

  fileprivate init(_ limit: AnswerMemoryLimit, for caller: CallerID) {
    self.limit = limit
    self.caller = caller
  }

  deinit { limit.giveBack(bytes.withLock { $0 }, of: caller) }

  /// Enlarges the room: the answer now has `bytes` bytes.
  ///
  /// - Parameter isDone: true if the request has been carried out; its answer is then sent in any
  ///   case.
  func grow(to bytes: Int, isDone: Bool = false) throws(WireError) {
    let held = self.bytes.withLock { $0 }
    guard bytes > held else { return }
    try limit.take(bytes - held, beside: held, for: caller, isDone: isDone)
    self.bytes.withLock { $0 = bytes }
  }
}
