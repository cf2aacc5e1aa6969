import RelayCore
import Synchronization

/// Bounds the memory of answers that are written or wait for their readers, all together and of
/// each caller. An answer whose caller has no other is let through, however large it is, and so is
/// one beside which there is none at all: otherwise it could never be given.
final class AnswerGate: Sendable {
  private let limits: HTTPLimits
  private let state = Mutex(Shares<CallerID>(most: .max))

  init(_ limits: HTTPLimits) { self.limits = limits }

  /// Of all answers.
  var bytes: Int { state.withLock { $0.all } }

  /// Room for one answer, empty at first, before anything is done for the request.
  ///
  /// - Throws: `WireError` if there is none left.
  func room(for caller: CallerID) throws(WireError) -> AnswerRoom {
    // Asked for one byte, which is not taken: a request that is refused here takes no room.
    let (own, all) = state.withLock { ($0.taken(by: caller), $0.all) }
    try check(own: own, more: 1, all: all, beside: 0)
    return AnswerRoom(self, for: caller)
  }

  /// - Parameters:
  ///   - held: what the answer has already.
  ///   - isDone: what it tells of is done: it is given in any case.
  fileprivate func take(
    _ bytes: Int, beside held: Int, for caller: CallerID, isDone: Bool
  ) throws(WireError) {
    let refusal = state.withLock { shares -> WireError? in
      do throws(WireError) {
        if !isDone {
          try check(own: shares.taken(by: caller), more: bytes, all: shares.all, beside: held)
        }
      } catch {
        return error
      }
      _ = shares.take(bytes, for: caller, share: .max)
      return nil
    }
    if let refusal { throw refusal }
  }

  private func check(own: Int, more: Int, all: Int, beside held: Int) throws(WireError) {
    guard own == held || own + more <= limits.answerBytesPerCaller else {
      throw WireError(
        .throttled, "too many bytes of answers wait for this caller; read them",
        retryAfterSeconds: 1)
    }
    // A few callers that read nothing do not take what a caller's first answer needs.
    let most = own == held ? limits.answerBytesInFlight : limits.answerBytesInFlight / 2
    guard all == held || all + more <= most else {
      throw WireError(
        .tryAgainLater, "too many answers wait to be read; repeat the whole request",
        retryAfterSeconds: 1)
    }
  }

  fileprivate func giveBack(_ bytes: Int, of caller: CallerID) {
    state.withLock { $0.giveBack(bytes, of: caller) }
  }
}

/// The room of one request's answer: free again when the last reference to it is gone. The answer's
/// body holds one until it has left for the network, or never will.
final class AnswerRoom: Sendable {
  private let gate: AnswerGate
  private let caller: CallerID
  private let bytes = Mutex(0)

  fileprivate init(_ gate: AnswerGate, for caller: CallerID) {
    self.gate = gate
    self.caller = caller
  }

  deinit { gate.giveBack(bytes.withLock { $0 }, of: caller) }

  /// The answer has so many bytes by now.
  ///
  /// - Parameter isDone: what it tells of is done: it is given in any case.
  func grow(to bytes: Int, isDone: Bool = false) throws(WireError) {
    let held = self.bytes.withLock { $0 }
    guard bytes > held else { return }
    try gate.take(bytes - held, beside: held, for: caller, isDone: isDone)
    self.bytes.withLock { $0 = bytes }
  }
}
