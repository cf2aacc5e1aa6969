extension Lane {
  /// The route has room: fixes what a wake covers and, for a provider, spends the budget. The
  /// courier costs none: Apple counts pushes.
  ///
  /// - Parameters:
  ///   - folded: the last fact that a reader finds. Of an alert that was followed by another one
  ///     since, the one before is shown (P4).
  ///   - runsApp: the payload asks for content-available. An alert that does not covers itself
  ///     alone: what it names stays as it is.
  ///   - named: whether the payload names a subject, as its encoder decided.
  /// - Returns: the wake's number and deadline are in the attempt. Nil if there is nothing to tell.
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
      // The courier shows an alert and nothing else: what pends in the background has its own
      // wake, whose silence is noticed.
      runsApp: runsApp && !(isAlert && overCourier), isOverCourier: overCourier,
      isRepeat: isRepeat, alert: nil, deadline: now + policy.deadline, tries: 1, at: now,
      gathering: nil)
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
      // Its subject is being shown: what followed gathers, as what comes in flight does.
      if next?.isFollowed == true { attempt.gathering = Attempt.Gathering(first: now, last: now) }
      if !overCourier { alert.spend(policy.alert, at: now) }
    } else if !overCourier {
      spendBackground(policy, at: now)
    }
    cover(with: attempt, named)
    if overCourier { reach.repeats = false } else { unfolded = .attempt }
    state = .inFlight(attempt)
    return attempt
  }

  private mutating func cover(with attempt: Attempt, _ named: (Pending) -> Bool) {
    if attempt.runsApp {
      pending.waking.keep { subject in
        if named(subject) { subject.cover() }
        return true
      }
    }
    pending.quiet.keep { subject in
      if named(subject) { subject.name() }
      return true
    }
  }

  /// What the courier told is told again: by a push once the grace is over, or by the courier to
  /// a device that came back without it.
  private func isRepeated(overCourier: Bool, at now: Instant) -> Bool {
    overCourier ? reach.repeats && !pending.isFresh : isGraceOver(at: now)
  }

  /// Nothing new pends: what is told and not acknowledged is told again.
  var isRewake: Bool {
    guard !pending.isFresh else { return false }
    switch state {
    case .watching: return true
    case .resting(let rest): return rest.isLadder
    default: return false
    }
  }

  /// The last attempt failed for now. A rung of the ladder is no failure.
  var isRetrying: Bool {
    if case .resting(let rest) = state { return !rest.isLadder }
    return false
  }

  /// The rest whose wake goes on: the same number and `apns-id` until its deadline. A push that
  /// follows the courier goes on with the courier's wake, unless it has news to tell.
  package func resumable(isAlert: Bool, overCourier: Bool = false, at now: Instant) -> RetryBackoff?
  {
    if case .resting(let rest) = state, rest.isAlert == isAlert, now < rest.deadline,
      !(rest.isRepeat && pending.isFresh)
    {
      return rest
    }
    guard let grace, !isAlert, !pending.isFresh, now < grace.deadline,
      isRepeated(overCourier: overCourier, at: now)
    else { return nil }
    return RetryBackoff(
      until: now, wake: grace.last, isAlert: false, deadline: grace.deadline, tries: 0)
  }

  /// A provider or the courier took the wake: what it covers is told, and nothing else.
  ///
  /// - Returns: the device's silence, if the app's servers are to be told of it now.
  @discardableResult
  package mutating func delivered(
    at now: Instant, policy: WakePolicy, ledger: inout Ledger
  ) -> Silence? {
    guard case .inFlight(let attempt) = state else { return nil }
    if !attempt.isAlert { isSentBack = false }
    if !attempt.isOverCourier { hasTaken = true }
    if attempt.alert != nil { ledger.settle(1, as: \.woken) }
    let isWatched = hasAcknowledged || (attempt.isOverCourier && reach.hasProvider)
    var hasTold = !attempt.isAlert
    pending.waking.keep { subject in
      guard subject.isCovered else { return true }
      hasTold = true
      if !subject.isCoveredOfAlert { ledger.settle(1, as: \.woken) }
      subject.told(by: attempt.wake)
      if !subject.isFresh { subject.isUrgent = false }
      return subject.isFresh || isWatched
    }
    pending.quiet.keep { subject in
      guard subject.isCovered else { return true }
      subject.told(by: attempt.wake)
      subject.isFresh = false
      // The app of a device that never acknowledges was run, and told: that is all it gets.
      return isWatched || !attempt.runsApp
    }
    if hasTold {
      if !attempt.isRepeat { ladderStep = attempt.isLadder ? ladderStep + 1 : 0 }
      lastWake = now
    }
    if !attempt.isAlert {
      if attempt.isOverCourier {
        courierTold(attempt, at: now, policy: policy)
      } else {
        learn(of: attempt, at: now, policy)
        endGrace()
      }
    }
    if pending.alerts.isEmpty { pending.lostAlerts = false }
    resume(after: attempt, policy: policy)
    // The push that repeats what the courier told is the same wake.
    return hasTold && !attempt.isRepeat ? unanswered(at: now, policy: policy) : nil
  }

  private mutating func learn(of attempt: Attempt, at now: Instant, _ policy: WakePolicy) {
    guard policy.adapts else { return }
    adaptation.woken(at: now, canAnswer: hasAcknowledged, policy.background)
    // Its answer may come before the provider's. What a re-wake tells was told by an earlier one.
    let isAnswered =
      attempt.isLadder || attempt.isRepeat
      ? pending.isEmpty : !pending.subjects.contains { $0.toldBy == attempt.wake }
    if hasAcknowledged, isAnswered { answered(at: now, policy: policy) }
  }

  /// The device fetched or acknowledged something.
  package mutating func answered(at now: Instant, policy: WakePolicy) {
    if policy.adapts { adaptation.answered(at: now, background, policy.background) }
  }

  /// The attempt under way never left us, or the provider refused us and not the push: it counts
  /// it for no device, and so does no budget.
  package mutating func regain() {
    guard case .inFlight(let attempt) = state, !attempt.isOverCourier else { return }
    if attempt.isAlert { alert.regain(attempt.at) } else { background.regain(attempt.at) }
  }

  /// Not now: rest and try again, until the wake's deadline ends the series.
  package mutating func postponed(
    until: Instant, limits: Limits, ledger: inout Ledger
  ) {
    guard case .inFlight(let attempt) = state else { return }
    restore(attempt, limits: limits, ledger: &ledger)
    state = .resting(
      RetryBackoff(
        until: until, wake: attempt.wake, isAlert: attempt.isAlert, deadline: attempt.deadline,
        tries: attempt.tries, isLadder: attempt.isLadder, isRepeat: attempt.isRepeat))
    settleState()
  }

  /// A provider took a wake that names all that the courier told. Whoever never acknowledges gives
  /// no sign to wait for.
  mutating func endGrace() {
    guard let grace else { return }
    self.grace = nil
    guard !hasAcknowledged else { return }
    pending.waking.keep { $0.isUntold || !grace.covers($0) }
    pending.quiet.keep { $0.isUntold || !grace.covers($0) }
  }

  /// Refused for good, and not the device's fault. The alert is not shown to a provider that
  /// refuses it again and again; what pends in the background stays for later wakes.
  package mutating func rejected(
    at now: Instant, policy: WakePolicy, limits: Limits, ledger: inout Ledger
  ) {
    guard case .inFlight(var attempt) = state else { return }
    if attempt.alert != nil {
      ledger.settle(1, as: \.expired)
      attempt.alert = nil
    }
    state = .inFlight(attempt)
    postponed(until: now + policy.retryMax, limits: limits, ledger: &ledger)
  }

  /// The next alert has nothing to show that fits into a push: what it says is told in the
  /// background instead, within that budget.
  package mutating func hush(folded: Ordinal, limits: Limits, ledger: inout Ledger) {
    guard let alert = pending.takeAlert(folded)?.shown else { return }
    let match = Match(
      notice: alert.notice, position: alert.position, zonePosition: alert.zonePosition,
      isHot: alert.isHot)
    if !pending.waking.add(match, limits: limits) { ledger.settle(1, as: \.merged) }
    settleState()
  }

  /// Deliveries of a failed attempt wait again; a newer one of the same subject took their place.
  private mutating func restore(_ attempt: Attempt, limits: Limits, ledger: inout Ledger) {
    pending.waking.keep { subject in
      if subject.uncover() { ledger.settle(1, as: \.merged) }
      return true
    }
    pending.quiet.keep { subject in
      subject.unname()
      return true
    }
    guard let shown = attempt.alert else { return }
    if pending.alerts.contains(where: { $0.key == shown.key }) {
      ledger.settle(1, as: \.merged)
    } else if pending.alerts.count >= limits.alertsPending {
      // Newer ones came meanwhile: this one is the oldest, which is what they replace.
      pending.lostAlerts = true
      ledger.settle(1, as: \.merged)
    } else {
      pending.alerts.insert(shown, at: 0)
    }
  }

  private mutating func resume(after attempt: Attempt, policy: WakePolicy) {
    if !pending.isFresh && pending.alerts.isEmpty { freshSince = nil }
    if pending.isEmpty {
      state = .idle
    } else if !pending.isFresh && pending.alerts.isEmpty {
      state = .watching
    } else if let gathering = attempt.gathering {
      state = .gathering(
        opened: gathering.first,
        due: min(gathering.last + policy.window, gathering.first + policy.windowMax))
    } else {
      state = .due(after: .zero)
    }
  }
}
