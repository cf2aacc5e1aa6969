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

  /// Counts the items of a request beyond the first as further written items of the user.
  func wrote(items: Int, _ request: DeviceRequest) {
    fairness.wrote(items: items, by: request.caller, at: clock.boot())
  }

  /// Submits one fact of a device.
  ///
  /// - Throws: `WireError` if the relay refuses the fact.
  @discardableResult
  func submit(_ fact: Fact, _ request: DeviceRequest) async throws -> Answer? {
    let answer = try await submit([fact], for: request.caller).first
    if case .refused(let refusal) = answer { throw WireError(refusal) }
    return answer
  }

  func submit(_ facts: [Fact], for caller: CallerID) async throws -> [Answer] {
    guard !facts.isEmpty else {
      // A draining relay takes nothing more. A sender whose events are all invalid gets the same
      // error as any other sender.
      guard relay.readiness.isReady else { throw Unavailable(notReady: relay.readiness) }
      return []
    }
    let taken = try fairness.take(facts, for: caller)
    defer { fairness.giveBack(taken, of: caller) }
    return try await relay.submit(facts, by: caller.submitter)
  }
}
