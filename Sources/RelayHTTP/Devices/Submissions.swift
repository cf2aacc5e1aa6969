import RelayCore
import RelayEngine

/// Submits the facts of devices to the relay, within their users' shares.
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
    let answer = try await submit([fact], request).first
    if case .refused(let refusal) = answer { throw WireError(refusal) }
    return answer
  }

  func submit(_ facts: [Fact], _ request: DeviceRequest) async throws -> [Answer] {
    let taken = try fairness.take(facts, for: request.caller)
    defer { fairness.giveBack(taken, of: request.caller) }
    return try await relay.submit(facts, by: request.caller.submitter)
  }
}
