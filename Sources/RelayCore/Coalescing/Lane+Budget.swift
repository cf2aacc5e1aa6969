extension Lane {
  /// The limit of background wakes for this device now. The reserved share is subtracted unless
  /// something urgent waits to be told; at least one wake remains.
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

  /// When an adaptive budget allows the next wake. The budget is spread evenly over its stretch. At
  /// the end of a burst, the relay uses the wakes that are left, and does not wait for the even
  /// gap.
  ///
  /// ```
  /// six wakes were not answered  ─▶ an hour after the last wake
  /// one change, or a re-wake     ─▶ an even gap after the last wake: an hour divided by the learnt
  ///                                 number
  /// several changes in a burst   ─▶ when the burst is over, and either an even gap has passed or
  ///                                 the configured number allows a wake. The wait ends at the
  ///                                 latest when both even gaps have passed since the last wake:
  ///                                 that of the learnt and that of the configured number
  /// something urgent             ─▶ as in a burst, but without waiting for the end of the burst
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
