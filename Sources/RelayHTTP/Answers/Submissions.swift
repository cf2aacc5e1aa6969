import RelayCore
import RelayEngine

/// Submits a caller's facts to the relay, within the caller's shares.
struct Submissions: Sendable {
  let relay: any RelayService
  let fairness: Fairness
  let clock: any ClockReader

  /// Counts one written item of the caller.
  ///
  /// - Throws: a 429 if the caller writes too often.
  func mayWrite(_ caller: CallerID) throws(WireError) {
    try fairness.write(by: caller, at: clock.boot())
  }

  /// Counts the items of one request beyond the first as further written items of the caller.
  func wrote(items: Int, by caller: CallerID) {
    fairness.wrote(items: items, by: caller, at: clock.boot())
  }

  func submit(
    _ facts: [Fact], for caller: CallerID
  ) async throws(WireError) -> [Answer] {
    guard !facts.isEmpty else {
      // A draining relay takes nothing more. A sender whose events are all invalid gets the same
      // error as any other sender.
      guard relay.readiness.isReady else { throw WireError(Unavailable(notReady: relay.readiness)) }
      return []
    }
    let taken = try fairness.take(facts, for: caller)
    defer { fairness.giveBack(taken, of: caller) }
    do throws(Unavailable) {
      return try await relay.submit(facts, by: caller.submitter)
    } catch {
      throw WireError(error)
    }
  }
}
