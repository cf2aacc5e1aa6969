extension Lane {
  /// How many background wakes this device may get now: less the share that is reserved, unless
  /// something urgent waits to be told. Whatever is reserved, one is left.
  func backgroundRule(_ policy: WakePolicy) -> Budget.Rule {
    var rule = policy.adapts ? learnt.rule(policy.background) : policy.background
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

  /// A budget that adapts is spread over its stretch, so that what comes last in a burst does not
  /// wait for an hour.
  ///
  /// ```
  /// answered at once, a moment ago ─▶ now: the app is in use, which Apple does not hold back
  /// away: six were not answered    ─▶ after an hour
  /// otherwise                      ─▶ after an even gap: an hour by the number
  /// ```
  private func paced(_ rule: Budget.Rule, _ policy: WakePolicy, at now: Instant) -> Instant {
    guard policy.adapts, hasAcknowledged, now >= inUseUntil, let last = background.times.last else {
      return .zero
    }
    let many = silences < LearntBudget.awayAfter ? rule.max : 1
    return last + Span(milliseconds: rule.per.milliseconds / Int64(many))
  }
}
