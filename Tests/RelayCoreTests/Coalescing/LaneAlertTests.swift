import RelayCore
import Testing

/// Each alert is a push of its own. Alerts are sent oldest first, before background wakes.
@Suite struct LaneAlertTests {
  @Test func `alerts are sent one by one, oldest first, before background wakes`() {
    var rig = LaneRig()
    rig.zone(1)
    rig.alert("a")
    rig.alert("b")
    var shown: [String?] = []
    for _ in 0..<3 {
      shown.append(rig.wake(covering: false)?.alert?.key.subject)
      rig.delivered()
      rig.fold()
    }
    #expect(shown == ["a", "b", nil])
    #expect(rig.ledger.isBalanced)
  }

  /// P4: an alert waits for its fold, also when its lane waits for the background budget.
  @Test func `an alert waits for its fold even if the background budget is spent`() {
    var rig = LaneRig()
    for index in 0..<3 {
      rig.zone(index)
      rig.wake()
      rig.delivered()
    }
    rig.zone(3)
    rig.advance(3)
    rig.fold()
    guard case .timer = rig.nextStep else { return #expect(Bool(false), "the budget is spent") }
    rig.alert("a")
    #expect(rig.nextStep == .fold)
    rig.fold()
    #expect(rig.nextStep == .attempt(isAlert: true))
  }

  @Test func `a newer alert of the same subject replaces the older alert`() {
    var rig = LaneRig()
    rig.alert("a")
    rig.alert("a")
    #expect(rig.lane.pending.alerts.count == 1)
    #expect(rig.ledger.merged == 1 && rig.ledger.pending == 1)
    rig.wake()
    rig.alert("a")
    rig.postponed(1)
    #expect(rig.lane.pending.alerts.count == 1)
    #expect(rig.ledger.merged == 2 && rig.ledger.isBalanced)
  }

  @Test func `the newest alert replaces the oldest alert beyond the limit`() {
    var rig = LaneRig()
    rig.limits.alertsPending = 2
    for subject in ["a", "b", "c"] { rig.alert(subject) }
    #expect(rig.lane.pending.alerts.map(\.key.subject) == ["b", "c"])
    #expect(rig.lane.pending.lostAlerts)
    #expect(rig.ledger.isBalanced && rig.ledger.pending == 2)
  }

  @Test func `every alert states that alerts were lost, until the last one is delivered`() {
    var rig = LaneRig()
    rig.limits.alertsPending = 2
    for subject in ["a", "b", "c"] { rig.alert(subject) }
    rig.wake()
    rig.delivered()
    #expect(rig.lane.pending.alerts.count == 1 && rig.lane.pending.lostAlerts)
    rig.wake()
    rig.delivered()
    #expect(rig.lane.pending.alerts.isEmpty && !rig.lane.pending.lostAlerts)
  }

  /// The device has read what the alerts that the limit dropped would have told.
  @Test func `a lane forgets lost alerts when the feed was fetched up to all that wait`() {
    var rig = LaneRig()
    rig.limits.alertsPending = 2
    for subject in ["a", "b", "c"] { rig.alert(subject) }
    rig.lane.acknowledged(notifications: Position(Ordinal(2)), ledger: &rig.ledger)
    #expect(rig.lane.pending.alerts.count == 1 && rig.lane.pending.lostAlerts)
    rig.fetched()
    #expect(rig.lane.pending.alerts.isEmpty && !rig.lane.pending.lostAlerts)
  }

  /// P11: the alert of the failed attempt is the oldest, so the limit drops it first.
  @Test func `an alert that returns from a failed attempt obeys the same limit`() {
    var rig = LaneRig()
    rig.limits.alertsPending = 2
    rig.alert("a")
    rig.wake()
    rig.alert("b")
    rig.alert("c")
    #expect(rig.recovered().lane.pending.alerts.count <= 3)
    rig.postponed(1)
    #expect(rig.lane.pending.alerts.map(\.key.subject) == ["b", "c"])
    #expect(rig.lane.pending.lostAlerts)
    #expect(rig.ledger.isBalanced && rig.ledger.pending == 2)
  }

  /// P9: a payload not yet handed to a provider shows nothing that was withdrawn meanwhile.
  @Test func `an alert withdrawn in flight does not return`() {
    var rig = LaneRig()
    rig.alert("a")
    rig.wake()
    rig.withdraw(zone: 0)
    #expect(rig.ledger.withdrawn == 1)
    rig.postponed(1)
    #expect(rig.lane.pending.isEmpty && rig.lane.state == .idle)
    #expect(rig.ledger.isBalanced)
  }

  @Test func `an alert fetched in flight does not return`() {
    var rig = LaneRig()
    rig.alert("a")
    rig.wake()
    rig.fetched()
    rig.postponed(1)
    #expect(rig.lane.pending.isEmpty && rig.ledger.fetched == 1 && rig.ledger.isBalanced)
  }

  @Test func `recovery restores the alert in flight unless a newer one replaces it`() {
    var rig = LaneRig()
    rig.alert("a")
    rig.wake()
    #expect(rig.recovered().lane.pending.alerts.map(\.key.subject) == ["a"])
    rig.alert("a")
    #expect(rig.recovered().lane.pending.alerts.count == 1)
  }

  @Test func `a rejected alert is dropped, and the other subjects stay pending`() {
    var rig = LaneRig()
    rig.alert("a")
    rig.zone(1)
    rig.wake()
    rig.rejected()
    #expect(rig.ledger.expired == 1 && rig.ledger.isBalanced)
    #expect(rig.lane.pending.zones.count == 1)
    #expect(rig.nextStep == .timer(rig.now + rig.policy.retryMax, .rest))
  }

  /// An alert that runs the app covers zones too, so the ladder's gaps count from that alert.
  @Test func `the ladder counts from an alert that covered zones`() {
    var rig = LaneRig()
    rig.fetched()
    rig.zone(1)
    rig.alert("a", runsApp: true)
    rig.wake()
    let woken = rig.now
    rig.delivered()
    #expect(rig.lane.state == .watching)
    rig.fold()
    #expect(rig.nextStep == .timer(woken + .minutes(5), .acknowledgement))
  }
}
