/// The durable part of a lane: written with each fold, read at start. What a crash loses costs at
/// most a repeated wake (P5).
package struct LaneRecord: Hashable, Sendable {
  /// All wake numbers below this one may have been given out: a life after a crash begins here.
  package var reservedWake: UInt32
  /// The number after the last one given out: a life after a clean stop begins here.
  package var nextWake: UInt32
  package var background: Budget
  package var alert: Budget
  /// What the adaptive budget has learnt. Kept also while the setting is not adaptive.
  package var learnt: LearntBudget
  /// The device has acknowledged something since its registration. Only such devices are woken
  /// again.
  package var hasAcknowledged: Bool
  package var ladderStep: Int
  package var lastWake: Instant
  package var retirement: Retirement?
  /// Deliveries in flight count as not sent.
  package var pending: PendingSet
  /// What came of the last attempt, for people.
  package var lastVerdict: LastVerdict?
  /// When the device last fetched or acknowledged, for people.
  package var lastFetch: Instant?
  /// What the courier told and the device did not acknowledge. The push for this follows also after
  /// a crash.
  package var fallback: PushFallback?
  /// The lane's turn in a smear. A lane that waits at a crash keeps its slot.
  package var slot: Instant
  /// The address was registered for one environment, and its token belongs to the other.
  package var isElsewhere: Bool
  /// Delivered wakes that the device has not answered.
  package var silence: Silence?
  /// The device's address has taken a push from its provider.
  package var hasTaken: Bool

  package init(
    reservedWake: UInt32 = 1, nextWake: UInt32? = nil, background: Budget = Budget(),
    alert: Budget = Budget(),
    learnt: LearntBudget = LearntBudget(), hasAcknowledged: Bool = false, ladderStep: Int = 0,
    lastWake: Instant = .zero,
    retirement: Retirement? = nil, pending: PendingSet = PendingSet(),
    lastVerdict: LastVerdict? = nil, lastFetch: Instant? = nil, fallback: PushFallback? = nil,
    slot: Instant = .zero, isElsewhere: Bool = false, silence: Silence? = nil,
    hasTaken: Bool = false
  ) {
    self.reservedWake = reservedWake
    self.nextWake = nextWake ?? reservedWake
    self.background = background
    self.alert = alert
    self.learnt = learnt
    self.hasAcknowledged = hasAcknowledged
    self.ladderStep = ladderStep
    self.lastWake = lastWake
    self.retirement = retirement
    self.pending = pending
    self.lastVerdict = lastVerdict
    self.lastFetch = lastFetch
    self.fallback = fallback
    self.slot = slot
    self.isElsewhere = isElsewhere
    self.silence = silence
    self.hasTaken = hasTaken
  }
}

/// The result of an attempt, in the provider's words or the relay's.
package struct LastVerdict: Hashable, Sendable {
  package var at: Instant
  /// `delivered`, or the reason why not.
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
  /// The provider's reason, or the relay's own, such as `displaced`.
  package var reason: String

  package init(at: Instant, reason: String) {
    self.at = at
    self.reason = reason
  }
}
