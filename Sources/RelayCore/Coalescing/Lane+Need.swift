extension Lane {
  /// What a lane waits for.
  package enum Need: Hashable, Sendable {
    case nothing
    case timer(Instant)
    /// A fold that makes what is due visible, an attempt durable, or wake numbers reserved.
    case fold
    /// It may be woken now, if its route allows.
    case attempt(isAlert: Bool)
  }

  /// Asked after every input. Moves `gathering` to `due` when its window is over.
  ///
  /// - Parameter stepped: the last fact that the partition stepped.
  package mutating func need(
    at now: Instant, stepped: Ordinal, folded: Ordinal, policy: WakePolicy
  ) -> Need {
    switch state {
    case .idle, .inFlight, .retired:
      return .nothing
    case .gathering(_, let due):
      guard due <= now else { return .timer(due) }
      state = .due(after: stepped)
      return need(at: now, stepped: stepped, folded: folded, policy: policy)
    case .resting(let rest):
      guard rest.until <= now else { return .timer(rest.until) }
      return attempt(at: now, folded: folded, policy: policy)
    case .due(let after):
      guard after <= folded else { return .fold }
      return attempt(at: now, folded: folded, policy: policy)
    case .watching:
      guard hasAcknowledged else { return .nothing }
      let rewake = rewakeAt(policy)
      guard rewake <= now else { return .timer(rewake) }
      return attempt(at: now, folded: folded, policy: policy)
    }
  }

  /// Gaps are counted from the wake before; the last one repeats.
  private func rewakeAt(_ policy: WakePolicy) -> Instant {
    guard let last = policy.rewake.last else { return .never }
    let gap = ladderStep < policy.rewake.count ? policy.rewake[ladderStep] : last
    return lastWake + gap
  }

  private func attempt(at now: Instant, folded: Ordinal, policy: WakePolicy) -> Need {
    if unfolded != .nothing || nextWake >= reservedWake { return .fold }
    var opens = Instant.never
    if !pending.alerts.isEmpty {
      let alertOpens = alert.opens(policy.alert, at: now)
      if alertOpens <= now { return .attempt(isAlert: true) }
      opens = alertOpens
    }
    if wakesInBackground {
      let backgroundOpens = background.opens(backgroundRule(policy), at: now)
      if backgroundOpens <= now {
        // All that waits came after the last cut: a reader would not find it at once.
        return isRewake || pending.isTellable(folded) ? .attempt(isAlert: false) : .fold
      }
      opens = min(opens, backgroundOpens)
    }
    return opens == .never ? .nothing : .timer(opens)
  }

  /// How many background wakes this device may get now.
  func backgroundRule(_ policy: WakePolicy) -> Budget.Rule {
    policy.adapts ? learnt.rule(policy.background) : policy.background
  }

  private var wakesInBackground: Bool { pending.isFresh || isRewake }
}
