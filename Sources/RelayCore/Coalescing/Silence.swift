/// Delivered wakes after which a device gave no sign, counted for the app's own servers.
///
/// A device is called *silent* after it has acknowledged something since its registration, and then
/// gave no sign to at least `wakesLeast` delivered wakes that it had reason to acknowledge. The
/// last of these wakes must be `WakePolicy.silentAfter` or more after the first. A sign is a page
/// read, a wake acknowledged, a poll or stream at the courier, or a registration. Time alone makes
/// no device silent: without a delivered wake there was nothing to answer.
package struct Silence: Hashable, Sendable {
  package static let wakesLeast = 3

  /// When the first of the wakes was delivered.
  package var since: Instant
  package var wakes: Int
  /// Whether the app's servers were told that the device is silent.
  package var isTold: Bool

  package init(since: Instant, wakes: Int = 1, isTold: Bool = false) {
    (self.since, self.wakes, self.isTold) = (since, wakes, isTold)
  }
}

extension Lane {
  /// A wake was delivered that the device has reason to acknowledge.
  ///
  /// - Returns: the silence, if the app's servers must be told now.
  mutating func unanswered(at now: Instant, policy: WakePolicy) -> Silence? {
    guard hasAcknowledged else { return nil }
    guard var silence else {
      silence = Silence(since: now)
      return nil
    }
    // Once the servers are told, wakes are no longer counted.
    guard !silence.isTold else { return nil }
    silence.wakes += 1
    silence.isTold =
      silence.wakes >= Silence.wakesLeast && silence.since + policy.silentAfter <= now
    self.silence = silence
    return silence.isTold ? silence : nil
  }

  /// The device fetched, acknowledged, connected or registered, so it is not silent.
  ///
  /// - Returns: true if the app's servers were told that the device is silent.
  package mutating func gaveSign() -> Bool {
    defer { silence = nil }
    return silence?.isTold == true
  }
}
