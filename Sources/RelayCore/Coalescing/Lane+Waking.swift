/// The way of a notification through the lane: it pends, the lane says when to wake the device, and
/// an attempt begins.
extension Lane {
  /// A notification for this device has come. The call is legal in every state.
  ///
  /// - Parameter cut: the last fact in the newest cut, which is folded or under way.
  /// - Returns: if `isTraced`, what the match has done to the lane; else `nil`.
  @discardableResult package mutating func matched(
    _ match: Match, cut: Ordinal, at now: Instant, policy: WakePolicy, limits: Limits,
    isTraced: Bool = false, ledger: inout Ledger
  ) -> TracedMatch.Outcome? {
    ledger.matched += 1
    if case .retired = state {
      ledger.retired += 1
      return isTraced ? .retired : nil
    }
    let instead =
      isTraced ? givesWay(to: match, limits: limits) : TracedMatch.Instead()
    if freshSince == nil { freshSince = now }
    adaptation.burst.goOn(at: now)
    let isFirstOpen = !match.isHot && isAllHeld(at: now)
    ledger.pending += 1
    ledger.settle(1 - pending.add(match, cut: cut, limits: limits), as: \.merged)
    state.matched(at: now, isFirstOpen: isFirstOpen, policy)
    return isTraced ? outcome(of: match, instead: instead) : nil
  }

  /// What the lane waits for. The caller asks after every input. If the window is over, the call
  /// moves the state from `gathering` to `due`.
  ///
  /// - Parameter stepped: the last fact that the partition stepped.
  package mutating func nextStep(
    at now: Instant, stepped: Ordinal, folded: Ordinal, policy: WakePolicy
  ) -> NextStep {
    switch state {
    case .idle, .inFlight, .retired:
      return .nothing
    case .gathering(_, let due):
      guard due <= now else { return .timer(due, .window) }
      state.windowEnded(stepped: stepped)
      return nextStep(at: now, stepped: stepped, folded: folded, policy: policy)
    case .resting(let rest):
      // A delay that a provider asked for does not delay the courier.
      let tell = telling(folded: folded, at: now)
      guard tell == .nothing else { return tell }
      guard reach.hasProvider else { return waitingHere(at: now) }
      guard rest.until <= now else { return .timer(rest.until, .rest) }
      return attempt(at: now, folded: folded, policy: policy)
    case .due(let after):
      guard after <= folded else { return .fold }
      return attempt(at: now, folded: folded, policy: policy)
    case .watching:
      return repeating(at: now, folded: folded, policy: policy)
    }
  }

  /// The next step when everything is told: the wake that the fallback or the ladder repeats.
  private func repeating(at now: Instant, folded: Ordinal, policy: WakePolicy) -> NextStep {
    if reach.isHere && reach.repeats { return telling(folded: folded, at: now) }
    // Without a provider, no push can repeat the wake.
    guard reach.hasProvider, fallback != nil || hasAcknowledged else { return .nothing }
    let due = fallback?.until ?? rewakeAt(policy)
    guard due <= now else { return .timer(due, .acknowledgement) }
    if fallback == nil, reach.isHere { return telling(folded: folded, at: now) }
    return attempt(at: now, folded: folded, policy: policy)
  }

  /// When the ladder repeats the wake. Each gap is counted from the previous wake. When all gaps
  /// are used, the last gap repeats.
  private func rewakeAt(_ policy: WakePolicy) -> Instant {
    guard let last = policy.rewake.last else { return .never }
    let gap = ladderStep < policy.rewake.count ? policy.rewake[ladderStep] : last
    return ladderFrom + gap
  }

  /// The next step over the courier; `nothing` if the device is not connected or was told
  /// everything.
  private func telling(folded: Ordinal, at now: Instant) -> NextStep {
    guard reach.isHere else { return .nothing }
    let hasNews = hasNews(at: now)
    guard !pending.alerts.isEmpty || hasNews || hasRepeats(at: now) || isRewake else {
      return .nothing
    }
    if numbers.areUsedUp { return .fold }
    if let alert = pending.alerts.first {
      return alert.shown(folded) != nil ? .tell(isAlert: true) : .fold
    }
    return !hasNews || hasNewsToTell(folded, at: now) ? .tell(isAlert: false) : .fold
  }

  /// Whether the courier must repeat something that does not wait for the lane's slot.
  private func hasRepeats(at now: Instant) -> Bool {
    reach.repeats && pending.subjects.contains { names($0) && !isHeld($0, at: now) }
  }

  /// For a connected device without a provider: the timer until the slot, if the device's fresh
  /// subjects wait for the slot; `nothing` in other cases.
  private func waitingHere(at now: Instant) -> NextStep {
    guard reach.isHere, pending.isFresh, opens(at: now) > now else { return .nothing }
    return .timer(slot, .slot)
  }

  /// Whether a push must repeat what the courier told, because the device did not acknowledge
  /// within `courierGrace`.
  func isFallbackDue(at now: Instant) -> Bool {
    guard let fallback, reach.hasProvider else { return false }
    return fallback.until <= now
  }

  private func attempt(at now: Instant, folded: Ordinal, policy: WakePolicy) -> NextStep {
    if state != .watching {
      let tell = telling(folded: folded, at: now)
      guard tell == .nothing else { return tell }
    }
    guard reach.hasProvider else { return waitingHere(at: now) }
    if let until = reach.expectedBack(at: now), !isFallbackDue(at: now) {
      return .timer(min(until, fallback?.until ?? .never), .nextPoll)
    }
    if unfolded != .nothing || numbers.areUsedUp { return .fold }
    var opens = fallback.map { $0.until > now ? $0.until : .never } ?? .never
    var wait = Wait.acknowledgement
    if let first = pending.alerts.first {
      let alertOpens = alert.opens(policy.alert, at: now)
      if alertOpens <= now {
        return first.shown(folded) != nil ? .attempt(isAlert: true) : .fold
      }
      if alertOpens < opens { (opens, wait) = (alertOpens, .alertBudget) }
    }
    if pending.isFresh || isRewake || isFallbackDue(at: now) {
      let isDueAnyway = !pending.isFresh || isFallbackDue(at: now)
      let (budget, slot) = (
        backgroundOpens(policy, at: now), isDueAnyway ? now : self.opens(at: now)
      )
      let backgroundOpens = max(budget, slot)
      if backgroundOpens <= now {
        // If everything that waits came after the last fold, a reader would not find it yet.
        let mayBeTold =
          isDueAnyway ? pending.mayBeTold(folded) : hasNewsToTell(folded, at: now)
        return !pending.isFresh || mayBeTold ? .attempt(isAlert: false) : .fold
      }
      if backgroundOpens < opens {
        (opens, wait) = (backgroundOpens, budget < slot ? .slot : .backgroundBudget)
      }
    }
    return opens == .never ? .nothing : .timer(opens, wait)
  }

  /// Begins an attempt, for which the route has room. The call fixes what the wake covers and, for
  /// a provider, spends the budget. The courier spends no budget, because Apple counts only pushes.
  ///
  /// - Parameters:
  ///   - folded: the last fact that a reader finds. If the newest alert of a subject came later, an
  ///     earlier alert is shown (P4).
  ///   - runsApp: whether the payload asks for content-available. An alert without it covers no
  ///     subject of `PendingSet.waking`: such a subject stays fresh, even if the payload names it.
  ///   - named: whether the payload names a subject, as its encoder decided.
  /// - Returns: the attempt, with the wake's number and deadline; nil if there is nothing to tell.
  package mutating func begin(
    isAlert: Bool, folded: Ordinal, runsApp: Bool = true, overCourier: Bool = false,
    at now: Instant, policy: WakePolicy, named: (Pending) -> Bool
  ) -> Attempt? {
    let isRepeat = !isAlert && isRepeated(overCourier: overCourier, at: now)
    let isLadder = isRewake && !isRepeat
    guard
      isAlert
        ? pending.alerts.first?.shown(folded) != nil : pending.isFresh || isLadder || isRepeat
    else { return nil }
    var attempt = Attempt(
      wake: nextWake, isAlert: isAlert, isLadder: isLadder,
      // An alert over the courier does not run the app. What pends in the background gets a wake
      // of its own, so that the device's silence is noticed.
      runsApp: runsApp && !(isAlert && overCourier), isOverCourier: overCourier,
      isRepeat: isRepeat, deadline: now + policy.deadline, tries: 1, at: now)
    if let rest = resumable(isAlert: isAlert, overCourier: overCourier, at: now) {
      attempt.wake = rest.wake
      attempt.deadline = rest.deadline
      attempt.tries = rest.tries + 1
    } else {
      numbers.take()
    }
    if isAlert {
      let next = pending.takeAlert(folded)
      attempt.alert = next?.shown
      // A newer alert that waits counts as a match during the attempt, so another attempt follows.
      if next?.isFollowed == true { attempt.gathering = Attempt.Gathering(first: now, last: now) }
      if !overCourier { alert.spend(policy.alert, at: now) }
    } else if !overCourier, policy.mode != .off {
      background.spend(policy.background, at: now)
    }
    cover(with: attempt, named)
    if overCourier { reach.repeats = false } else { unfolded = .attempt }
    state.began(attempt)
    return attempt
  }

  private mutating func cover(with attempt: Attempt, _ named: (Pending) -> Bool) {
    if attempt.runsApp { pending.waking.changeAll { if named($0) { $0.cover() } } }
    pending.quiet.changeAll { if named($0) { $0.name() } }
  }

  /// Whether a wake repeats what the courier told. A push does so when the fallback is due. A wake
  /// over the courier does so if nothing new pends and the device reconnected without having
  /// received everything.
  private func isRepeated(overCourier: Bool, at now: Instant) -> Bool {
    overCourier ? reach.repeats && !pending.isFresh : isFallbackDue(at: now)
  }

  /// Whether a wake would only repeat what was told and not acknowledged, because nothing new
  /// pends.
  var isRewake: Bool {
    guard !pending.isFresh else { return false }
    switch state {
    case .watching: return true
    case .resting(let rest): return rest.isLadder
    default: return false
    }
  }

  /// Whether the last attempt failed for now and was not a re-wake of the ladder.
  var isRetrying: Bool {
    if case .resting(let rest) = state { return !rest.isLadder }
    return false
  }

  /// The backoff whose wake the next attempt continues, with the same number and `apns-id`, until
  /// the wake's deadline. A push that repeats what the courier told continues the courier's wake,
  /// unless something new pends. `nil` means that the next attempt begins a new wake.
  package func resumable(isAlert: Bool, overCourier: Bool = false, at now: Instant) -> RetryBackoff?
  {
    if case .resting(let rest) = state, rest.isAlert == isAlert, now < rest.deadline,
      !(rest.isRepeat && pending.isFresh)
    {
      return rest
    }
    guard let fallback, !isAlert, !pending.isFresh, now < fallback.deadline,
      isRepeated(overCourier: overCourier, at: now)
    else { return nil }
    return RetryBackoff(
      until: now, wake: fallback.last, isAlert: false, deadline: fallback.deadline, tries: 0)
  }
}
