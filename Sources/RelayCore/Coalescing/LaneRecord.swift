/// The durable part of a lane, which a fold writes and the relay reads at start. A crash loses the
/// changes since the last fold, which costs at most a repeated wake (P5).
package struct LaneRecord: Hashable, Sendable {
  /// All wake numbers below this number may have been given out. After a crash, the numbers go on
  /// with this number.
  package var reservedWake: UInt32 = 1
  /// The number after the last wake number that was given out. After a clean stop, the numbers go
  /// on with this number.
  package var nextWake: UInt32 = 1
  package var background = Budget()
  package var alert = Budget()
  /// The learnt part of the adaptive budget. The relay keeps it also while the setting is not
  /// adaptive.
  package var learnt = LearntBudget()
  /// Whether the device has acknowledged something since its registration. The ladder repeats wakes
  /// only for such devices.
  package var hasAcknowledged = false
  package var ladderStep = 0
  package var lastWake = Instant.zero
  package var retirement: Retirement?
  /// What pends for the device. Deliveries in flight count as not sent.
  package var pending = PendingSet()
  /// The result of the last attempt, for operators.
  package var lastVerdict: LastVerdict?
  /// When the device last fetched or acknowledged. Operators see this time, and the lapse of a
  /// courier address depends on it.
  package var lastFetch: Instant?
  /// The push that repeats what only the courier told. The push is sent also after a crash.
  package var fallback: PushFallback?
  /// The lane's turn in a smear. A lane that waits for its slot keeps the slot after a crash.
  package var slot = Instant.zero
  /// Whether the token belongs to another environment of the provider than the registered one.
  package var isElsewhere = false
  /// The delivered wakes that the device has not answered; `nil` if there are none.
  package var silence: Silence?
  /// Whether the provider has accepted a push for the device's address.
  package var hasTaken = false

  /// The record of a lane that has had no input.
  package static let empty = LaneRecord()
}

/// The result of an attempt, in the words of the provider or of the relay.
package struct LastVerdict: Hashable, Sendable {
  package var at: Instant
  /// `delivered`, or the reason why the push was not delivered.
  package var text: String

  package init(at: Instant, text: String) {
    self.at = at
    self.text = text
  }

  init(_ verdict: Verdict, at now: Instant) {
    let text =
      switch verdict {
      case .delivered: "delivered"
      case .deliveredElsewhere: "delivered in the other environment"
      case .later(_, _, let reason): "later: \(reason)"
      case .gone(_, let reason): "gone: \(reason)"
      case .rejected(let reason): "rejected: \(reason)"
      case .tooLarge(let reason): "too large: \(reason)"
      }
    self.init(at: now, text: text)
  }
}

/// Why and when a device's address was given up. A new registration ends the retirement.
package struct Retirement: Hashable, Sendable {
  package var at: Instant
  /// The provider's reason, or the relay's own reason, such as `displaced`.
  package var reason: String

  package init(at: Instant, reason: String) {
    self.at = at
    self.reason = reason
  }
}
