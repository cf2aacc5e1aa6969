extension Lane {
  /// A poll or stream is open.
  ///
  /// - Parameter after: the newest wake that the device has got, if it says so: up to there it
  ///   acknowledges, and what later ones told is told again.
  package mutating func connected(
    _ connection: UInt64, after: UInt32?, ledger: inout Ledger
  ) {
    reach.courier = .here(connection: connection)
    guard let after, after < nextWake else { return }
    if after > 0 { acknowledged(wake: after, ledger: &ledger) }
    reach.repeats = pending.subjects.contains { !$0.isUntold && $0.toldBy > after && names($0) }
  }

  /// It ended. One that another has replaced changes nothing.
  ///
  /// - Parameter isExpectedBack: it was a poll, and it was answered.
  package mutating func left(
    _ connection: UInt64, isExpectedBack: Bool, at now: Instant, policy: WakePolicy
  ) {
    guard reach.courier == .here(connection: connection) else { return }
    reach.courier = isExpectedBack ? .between(until: now + policy.courierGrace) : .away
    reach.repeats = false
  }

  /// It was registered with an address at a provider, or without.
  package mutating func registered(withProvider hasProvider: Bool) {
    reach.hasProvider = hasProvider
    guard !hasProvider else { return }
    endGrace()
    settleState()
  }

  /// The courier took a background wake: from here on its grace runs, if a push can follow.
  mutating func courierTold(_ attempt: Attempt, at now: Instant, policy: WakePolicy) {
    guard reach.hasProvider else { return }
    // A wake that tells nothing new stands for all that was told before.
    let first = attempt.isLadder ? 1 : attempt.wake
    grace = PushFallback(
      first: min(grace?.first ?? first, first), last: max(grace?.last ?? 0, attempt.wake),
      until: grace?.until ?? now + policy.courierGrace, deadline: attempt.deadline)
    settleGrace()
  }

  /// Nothing that the courier alone told is left.
  mutating func settleGrace() {
    guard let grace, !pending.subjects.contains(where: { grace.covers($0) }) else { return }
    self.grace = nil
  }

  /// A provider's turn has come for what the courier told.
  func isGraceOver(at now: Instant) -> Bool {
    guard let grace, reach.hasProvider else { return false }
    return grace.until <= now
  }

  /// Whether wakes name it: it is news, or the device acknowledges and has not yet, or nobody
  /// knows whether it took note of the courier.
  package func names(_ subject: Pending) -> Bool {
    subject.isFresh || hasAcknowledged || grace?.covers(subject) == true
  }
}

extension PushFallback {
  func covers(_ subject: Pending) -> Bool { subject.toldBy >= first }
}
