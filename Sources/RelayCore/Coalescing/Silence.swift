/// Wakes that a device was delivered and gave no sign after, for the app's own servers.
///
/// A device is called *silent* when it has acknowledged something since it registered, and then at
/// least `wakesLeast` wakes were delivered that it had reason to acknowledge, the last of them
/// `WakePolicy.silentAfter` or more after the first, and it gave no sign: no page read, no wake
/// acknowledged, no poll or stream at the courier, no registration. Time alone makes nobody silent:
/// a device that nothing was delivered to had nothing to answer.
package struct Silence: Hashable, Sendable {
  package static let wakesLeast = 3

  /// The first of the wakes was delivered.
  package var since: Instant
  package var wakes: Int
  /// The app's servers were told.
  package var isTold: Bool

  package init(since: Instant, wakes: Int = 1, isTold: Bool = false) {
    self.since = since
    self.wakes = wakes
    self.isTold = isTold
  }
}

extension Lane {
  /// A wake was delivered that the device has reason to acknowledge.
  ///
  /// - Returns: the silence, if it is to be told now.
  mutating func unanswered(at now: Instant, policy: WakePolicy) -> Silence? {
    guard hasAcknowledged else { return nil }
    guard var silence else {
      silence = Silence(since: now)
      return nil
    }
    // Once it is told nobody counts any more.
    guard !silence.isTold else { return nil }
    silence.wakes += 1
    silence.isTold =
      silence.wakes >= Silence.wakesLeast && silence.since + policy.silentAfter <= now
    self.silence = silence
    return silence.isTold ? silence : nil
  }

  /// The device gave a sign.
  ///
  /// - Returns: true if it was called silent before.
  package mutating func gaveSign() -> Bool {
    defer { silence = nil }
    return silence?.isTold == true
  }
}
