/// What is durable of a lane: written with the fold, read at the start. What is lost with a crash
/// costs at most a repeated wake (P5).
package struct LaneRecord: Hashable, Sendable {
  /// Wake numbers below it may have been given out; the next life begins here.
  package var reservedWake: UInt32
  package var background: Budget
  package var alert: Budget
  /// It has acknowledged something since it registered: only such devices are woken again.
  package var hasAcknowledged: Bool
  package var ladderStep: Int
  package var lastWake: Instant
  package var retirement: Retirement?
  /// Deliveries in flight count as not sent.
  package var pending: PendingSet

  package init(
    reservedWake: UInt32 = 1, background: Budget = Budget(), alert: Budget = Budget(),
    hasAcknowledged: Bool = false, ladderStep: Int = 0, lastWake: Instant = .zero,
    retirement: Retirement? = nil, pending: PendingSet = PendingSet()
  ) {
    self.reservedWake = reservedWake
    self.background = background
    self.alert = alert
    self.hasAcknowledged = hasAcknowledged
    self.ladderStep = ladderStep
    self.lastWake = lastWake
    self.retirement = retirement
    self.pending = pending
  }
}

/// Why and when a device's address was given up. A new registration ends it.
package struct Retirement: Hashable, Sendable {
  package var at: Instant
  /// The provider's word, or ours: `displaced`.
  package var reason: String

  package init(at: Instant, reason: String) {
    self.at = at
    self.reason = reason
  }
}
