extension Lane {
  /// How many background wakes this device may get now: less the share that is reserved, unless
  /// something urgent waits to be told. Whatever is reserved, one is left.
  func backgroundRule(_ policy: WakePolicy) -> Budget.Rule {
    var rule = policy.adapts ? adaptation.learnt.rule(policy.background) : policy.background
    if policy.reserved > 0, !pending.isUrgent { rule.max = max(1, rule.max - policy.reserved) }
    return rule
  }

  /// When the budget allows the next background wake.
  func backgroundOpens(_ policy: WakePolicy, at now: Instant) -> Instant {
    guard policy.mode != .off else { return now }
    let rule = backgroundRule(policy)
    return max(background.opens(rule, at: now), paced(rule, policy, at: now))
  }

  mutating func spendBackground(_ policy: WakePolicy, at now: Instant) {
    if policy.mode != .off { background.spend(policy.background, at: now) }
  }

  /// A budget that adapts is spread over its stretch, and what it has in hand goes to the end of a
  /// burst: nothing of that waits for an hour, or for the even gap.
  ///
  /// ```
  /// away: six were not answered  ─▶ after an hour
  /// a change alone, or a re-wake ─▶ after an even gap: an hour by the number
  /// changes follow one another   ─▶ once they are silent, as long as the configured number lasts
  ///                                 or an even gap is over; at the latest after an even gap of
  ///                                 the configured number
  /// something urgent, alone too  ─▶ the same, without waiting for silence
  /// ```
  private func paced(_ rule: Budget.Rule, _ policy: WakePolicy, at now: Instant) -> Instant {
    guard policy.adapts, hasAcknowledged, let last = background.times.last else { return .zero }
    guard !adaptation.isAway else { return last + rule.per }
    let even = last + rule.evenGap
    guard pending.isFresh, adaptation.burst.isMany || pending.isUrgent else { return even }
    let inHand = min(even, background.opens(policy.background, at: now))
    let latest = max(even, last + policy.background.evenGap)
    return min(latest, pending.isUrgent ? inHand : max(inHand, adaptation.burst.silentAt))
  }
}
