import RelayCore
import Testing

/// P5, P4: the lane tells an alert or a zone even if the alert or the zone changes again before
/// every fold, and tells only folded changes.
@Suite struct LaneBusyTests {
  /// A lane with one alert. The alert's window is over, and the alert waits for its fold.
  private func due(zone: Int = 0, runsApp: Bool = false) -> LaneRig {
    var rig = LaneRig()
    rig.alert("a", zone: zone, runsApp: runsApp)
    rig.advance(0.5)
    #expect(rig.nextStep == .fold)
    return rig
  }

  /// Changes the alert between the cut and the end of its fold, `folds` times.
  private func busy(_ rig: inout LaneRig, folds: Int = 1) {
    for _ in 0..<folds {
      rig.cut()
      rig.alert("a")
      rig.advance(0.2)
      rig.keep()
    }
  }

  /// Repeats `busy` until the lane is ready for an attempt, and begins that attempt.
  private func awaken(_ rig: inout LaneRig) -> Lane.Attempt? {
    for _ in 0..<100 {
      if case .attempt(let isAlert) = rig.nextStep { return rig.begin(isAlert: isAlert) }
      busy(&rig)
    }
    return nil
  }

  @Test func `an alert that changes before every fold is still shown`() {
    var rig = due()
    busy(&rig, folds: 10)
    #expect(rig.nextStep == .attempt(isAlert: true))
  }

  @Test func `a zone is told although an alert changes before every fold`() {
    var rig = LaneRig()
    rig.policy.alert = Budget.Rule(max: 2, per: .hours(1))
    rig.zone(1)
    rig.alert("a")
    rig.advance(0.5)
    var kinds: [Bool?] = []
    for _ in 0..<3 {
      kinds.append(awaken(&rig)?.isAlert)
      rig.delivered()
    }
    #expect(kinds == [true, true, false], "alerts go first while there is budget for them")
    #expect(rig.ledger.isBalanced)
  }

  @Test func `the courier gets an alert that changes before every fold`() {
    var rig = LaneRig()
    rig.connect()
    rig.alert("a")
    rig.advance(0.5)
    #expect(rig.nextStep == .fold)
    busy(&rig, folds: 10)
    #expect(rig.nextStep == .tell(isAlert: true))
  }

  /// P4: the alert's second version is folded and its third is not. So the push shows the second,
  /// which a reader finds at once.
  @Test func `the newest folded version of an alert is shown`() {
    var rig = LaneRig()
    rig.alert("a")
    rig.fold()
    rig.alert("a")
    rig.advance(2)
    busy(&rig)
    let shown = rig.begin(isAlert: true)?.alert
    #expect(shown?.position.ordinal == Ordinal(2) && rig.stepped == Ordinal(3))
  }

  @Test func `a version of an alert from after the cut is shown after the older one`() {
    var rig = due()
    busy(&rig)
    rig.alert("b")
    var shown = [rig.wake()?.alert]
    #expect(rig.ledger.pending == 3)
    for _ in 0..<3 {
      rig.delivered()
      shown.append(rig.wake()?.alert)
    }
    #expect(shown.map { $0?.position.ordinal.number } == [1, 3, 2, nil])
    #expect(rig.ledger.woken == 3 && rig.ledger.pending == 0 && rig.ledger.isBalanced)
  }

  /// The folded version of the alert was shown just now. The next version gathers for a window,
  /// like a change that comes while an attempt is in flight.
  @Test func `a version of an alert from after the cut gathers in its own window`() {
    var rig = due()
    busy(&rig)
    rig.wake()
    let begun = rig.now
    rig.advance(0.1)
    rig.delivered()
    #expect(rig.nextStep == .timer(begun + rig.policy.window, .window))
  }

  @Test func `a newer folded alert replaces an older alert that is not shown yet`() {
    var rig = due()
    busy(&rig)
    #expect(rig.ledger.pending == 2)
    rig.fold()
    #expect(rig.ledger.pending == 1 && rig.ledger.merged == 1)
    #expect(rig.wake()?.alert?.position.ordinal == Ordinal(2))
    rig.delivered()
    #expect(rig.lane.pending.isEmpty && rig.ledger.isBalanced)
  }

  /// P11: the alert budget is spent while the zone goes on changing.
  @Test func `a waiting alert has at most two deliveries, however often it changes`() {
    var rig = LaneRig()
    rig.policy.alert = Budget.Rule(max: 1, per: .hours(1))
    rig.alert("b")
    rig.wake()
    rig.delivered()
    rig.alert("a")
    for _ in 0..<50 {
      busy(&rig)
      if case .attempt = rig.nextStep { #expect(Bool(false), "the budget is spent") }
      rig.cut()
      rig.alert("a")
      #expect(rig.lane.pending.deliveries <= 2 && rig.ledger.isBalanced)
    }
    #expect(rig.recovered().lane.pending.deliveries == 1)
    rig.advance(3_600)
    rig.keep()
    let shown = rig.wake()?.alert?.position.ordinal
    #expect(shown == Ordinal(rig.stepped.number - 1), "not one of an hour ago")
  }

  @Test func `an alert dropped at the limit takes its older versions with it`() {
    var rig = LaneRig()
    rig.limits.alertsPending = 1
    rig.alert("a")
    busy(&rig)
    rig.alert("b")
    #expect(rig.lane.pending.alerts.map(\.key.subject) == ["b"] && rig.lane.pending.lostAlerts)
    #expect(rig.ledger.pending == 1 && rig.ledger.merged == 2 && rig.ledger.isBalanced)
  }

  @Test func `a fetched older version of an alert is not shown`() {
    var rig = due()
    busy(&rig)
    rig.lane.acknowledged(notifications: Position(Ordinal(1)), ledger: &rig.ledger)
    #expect(rig.ledger.fetched == 1 && rig.nextStep == .fold)
    #expect(rig.wake()?.alert?.position.ordinal == Ordinal(2))
    #expect(rig.ledger.isBalanced)
  }

  /// P9: no alert of a withdrawn zone is shown.
  @Test func `no version of an alert is shown after its zone is withdrawn`() {
    var rig = due()
    busy(&rig)
    rig.withdraw(zone: 0)
    #expect(rig.nextStep == .nothing && rig.lane.state == .idle)
    #expect(rig.ledger.withdrawn == 2 && rig.ledger.isBalanced)
  }

  /// P9: alerts of two zones may have the same collapse value.
  @Test func `a withdrawal keeps an alert of the same subject from another zone`() {
    var rig = due(zone: 1)
    busy(&rig)
    rig.withdraw(zone: 0)
    #expect(rig.wake()?.alert?.content.zone == LaneRig.zones[1])
    #expect(rig.ledger.withdrawn == 1 && rig.ledger.isBalanced)
  }

  @Test func `only the newest version of an alert is shown after a crash`() {
    var rig = due()
    busy(&rig)
    var after = rig.recovered()
    after.folded = after.stepped
    #expect(after.wake()?.alert?.position.ordinal == Ordinal(2))
    after.delivered()
    #expect(after.lane.pending.isEmpty && after.ledger.isBalanced)
  }

  /// An older alert that no push can show is told in the background; the newer one stays pending.
  @Test func `an older alert with nothing to show leaves the newer alert pending`() {
    var rig = due(runsApp: true)
    rig.cut()
    rig.alert("a", runsApp: true)
    rig.keep()
    #expect(rig.nextStep == .attempt(isAlert: true))
    rig.hush()
    #expect(rig.lane.pending.alerts.map(\.position.ordinal.number) == [2])
    #expect(rig.lane.pending.zones.map(\.position.ordinal.number) == [2])
    #expect(rig.ledger.isBalanced && Int(rig.ledger.pending) == rig.lane.pending.deliveries)
  }
}
