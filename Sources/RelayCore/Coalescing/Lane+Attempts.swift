/// How an attempt ends.
extension Lane {
  /// A provider or the courier took the wake. Only the subjects that the wake covers count as told.
  ///
  /// - Returns: the device's silence, if the app's servers must now be told that the device is
  ///   silent.
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
      // A device that never acknowledges is not told again after a wake that ran its app.
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
        endFallback()
      }
    }
    if pending.alerts.isEmpty { pending.lostAlerts = false }
    if !pending.isFresh && pending.alerts.isEmpty { freshSince = nil }
    state.delivered(State.Waiting(pending), policy)
    // A push that repeats what the courier told is the same wake and is not counted again.
    return hasTold && !attempt.isRepeat ? unanswered(at: now, policy: policy) : nil
  }

  private mutating func learn(of attempt: Attempt, at now: Instant, _ policy: WakePolicy) {
    guard policy.adapts else { return }
    adaptation.woken(at: now, canAnswer: hasAcknowledged, policy.background)
    // The device may have answered before the provider did. A re-wake repeats what earlier wakes
    // told, so such a wake is answered only if nothing pends any more.
    let isAnswered =
      attempt.isLadder || attempt.isRepeat
      ? pending.isEmpty : !pending.subjects.contains { $0.toldBy == attempt.wake }
    if hasAcknowledged, isAnswered { answered(at: now, policy: policy) }
  }

  /// Records how the last attempt ended, for operators.
  mutating func ended(with verdict: Verdict, at now: Instant) {
    lastVerdict = LastVerdict(verdict, at: now)
  }

  /// Records whether the token belongs to another environment of the provider than the registered
  /// one. The environment that accepted the last push decides this.
  mutating func belongs(elsewhere isElsewhere: Bool) { self.isElsewhere = isElsewhere }

  /// Records when the device last fetched or acknowledged something.
  mutating func fetched(at now: Instant) { lastFetch = now }

  /// The device fetched or acknowledged something, which may change an adaptive budget.
  package mutating func answered(at now: Instant, policy: WakePolicy) {
    if policy.adapts { adaptation.answered(at: now, background, policy.background) }
  }

  /// Removes the attempt under way from its budget, because the push was not sent, or the provider
  /// refused all pushes of the route. The provider then counts no push for the device.
  package mutating func regain() {
    guard case .inFlight(let attempt) = state, !attempt.isOverCourier else { return }
    if attempt.isAlert { alert.regain(attempt.at) } else { background.regain(attempt.at) }
  }

  /// The attempt failed for now. The lane rests until `until` and then tries again.
  package mutating func postponed(
    until: Instant, isQuarantined: Bool = false, limits: Limits, ledger: inout Ledger
  ) {
    guard case .inFlight(let attempt) = state else { return }
    restore(attempt, limits: limits, ledger: &ledger)
    state.postponed(until: until, isQuarantined: isQuarantined)
    settleState()
  }

  /// Ends the fallback, if there is one. A device that never acknowledges gives no further sign, so
  /// the subjects that only the courier told are removed from such a device's lane.
  mutating func endFallback() {
    guard let fallback else { return }
    self.fallback = nil
    guard !hasAcknowledged else { return }
    pending.waking.keep { $0.isUntold || !fallback.covers($0) }
    pending.quiet.keep { $0.isUntold || !fallback.covers($0) }
  }

  /// The provider refused the push permanently, and the device is not the cause. The alert is
  /// dropped, because the provider would refuse the alert again and again. Background subjects wait
  /// for later wakes.
  package mutating func rejected(
    at now: Instant, policy: WakePolicy, limits: Limits, ledger: inout Ledger
  ) {
    guard case .inFlight = state else { return }
    if state.cancelAlert({ _ in true }) { ledger.settle(1, as: \.expired) }
    postponed(until: now + policy.retryMax, limits: limits, ledger: &ledger)
  }

  /// Removes the next alert, because no visible part of it fits into a push. A background wake
  /// tells the alert's content instead, within the background budget.
  package mutating func hush(folded: Ordinal, limits: Limits, ledger: inout Ledger) {
    guard let alert = pending.takeAlert(folded)?.shown else { return }
    let match = Match(
      content: alert.content, position: alert.position, zonePosition: alert.zonePosition,
      isHot: alert.isHot)
    if !pending.waking.add(match, limits: limits) { ledger.settle(1, as: \.merged) }
  }

  /// Deliveries of a failed attempt wait again, or merge into a newer delivery of the same subject.
  private mutating func restore(_ attempt: Attempt, limits: Limits, ledger: inout Ledger) {
    pending.waking.changeAll { if $0.uncover() { ledger.settle(1, as: \.merged) } }
    pending.quiet.changeAll { $0.clearCover() }
    guard let shown = attempt.alert else { return }
    if pending.alerts.contains(where: { $0.key == shown.key }) {
      ledger.settle(1, as: \.merged)
    } else if pending.alerts.count >= limits.alertsPending {
      // Newer alerts have taken all places, because alerts came during the attempt. So the oldest
      // alert gives way: `shown`, the alert of the failed attempt.
      pending.lostAlerts = true
      ledger.settle(1, as: \.merged)
    } else {
      pending.alerts.insert(shown, at: 0)
    }
  }
}
