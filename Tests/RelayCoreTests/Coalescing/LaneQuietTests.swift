import RelayCore
import Testing

/// What an alert tells stays pending like anything else: pushes name it until the device
/// acknowledges it. The alert runs the app only if its subscription asks for content-available.
@Suite struct LaneQuietTests {
  private let z0 = LaneRig.zones[0]

  @Test func `later wakes name an alert's zone until it is acknowledged`() {
    var rig = LaneRig()
    rig.fetched()
    rig.alert("a")
    rig.wake()
    rig.delivered()
    #expect(rig.lane.pending.quiet.zones.map(\.content.zone) == [z0])
    rig.fold()
    rig.zone(1)
    rig.wake()
    rig.delivered()
    #expect(rig.lane.pending.quiet.zones.map(\.content.zone) == [z0], "told, and not acknowledged")
    rig.fetched(zone: 0)
    #expect(rig.lane.pending.quiet.isEmpty && rig.ledger.isBalanced)
  }

  @Test func `an alert that does not run the app covers only itself`() {
    var rig = LaneRig()
    rig.zone(1)
    rig.alert("a")
    #expect(rig.wake()?.isAlert == true)
    rig.delivered()
    #expect(rig.lane.pending.zones.map(\.isFresh) == [true], "its background wake is still owed")
    #expect(rig.ledger.woken == 1)
    #expect(rig.wake()?.isAlert == false)
    rig.delivered()
    #expect(rig.ledger.woken == 2 && rig.ledger.isBalanced && rig.ledger.pending == 0)
  }

  @Test func `a zone named by an alert causes no background wake and no ladder`() {
    var rig = LaneRig()
    rig.fetched()
    rig.alert("a")
    rig.wake()
    rig.delivered()
    rig.fold()
    #expect(rig.lane.state == .idle && rig.nextStep == .nothing)
    rig.advance(200_000)
    #expect(rig.nextStep == .nothing && rig.attempts.count == 1)
  }

  @Test func `an alert that runs the app covers its zones and starts the ladder`() {
    var rig = LaneRig()
    rig.fetched()
    rig.zone(1)
    rig.alert("a", runsApp: true)
    #expect(rig.ledger.pending == 2, "an alert is one delivery, and a zone another")
    #expect(rig.wake()?.isAlert == true)
    let woken = rig.now
    rig.delivered()
    #expect(rig.ledger.woken == 2 && rig.ledger.pending == 0 && rig.ledger.isBalanced)
    #expect(rig.lane.pending.zones.allSatisfy { !$0.isFresh && $0.toldBy == 1 })
    rig.fold()
    #expect(
      rig.lane.state == .watching
        && rig.nextStep == .timer(woken + .minutes(5), .acknowledgement))
    let again = rig.wake()
    #expect(again?.isAlert == false && again?.isLadder == true)
  }

  /// P5: the alert budget is spent, so a background wake tells the device of the alert's zone, and
  /// the alert follows later.
  @Test func `an alert that waits for its budget does not delay its zone`() {
    var rig = LaneRig()
    rig.policy.alert = Budget.Rule(max: 1, per: .hours(1))
    rig.alert("a")
    rig.wake()
    rig.delivered()
    rig.fold()
    rig.alert("b", zone: 1, runsApp: true)
    #expect(rig.wake()?.isAlert == false)
    rig.delivered()
    #expect(rig.ledger.woken == 1 && rig.ledger.pending == 1 && rig.ledger.isBalanced)
    rig.fold()
    #expect(rig.wake()?.isAlert == true)
    rig.delivered()
    #expect(rig.ledger.woken == 2 && rig.ledger.pending == 0 && rig.ledger.isBalanced)
  }

  @Test func `a zone is named until the app runs if the device never acknowledges`() {
    var rig = LaneRig()
    rig.alert("a")
    rig.wake()
    rig.delivered()
    rig.alert("b", zone: 1)
    rig.wake()
    rig.delivered()
    #expect(rig.lane.pending.quiet.zones.count == 2, "no app was run yet")
    rig.zone(2)
    rig.wake()
    rig.delivered()
    #expect(rig.lane.pending.quiet.isEmpty && rig.lane.state == .idle && rig.ledger.isBalanced)
  }

  @Test func `an acknowledged wake number acknowledges what that wake named`() {
    var rig = LaneRig()
    rig.alert("a")
    let first = rig.wake()?.wake ?? 0
    rig.alert("b", zone: 1)
    rig.delivered()
    rig.lane.acknowledged(wake: first, ledger: &rig.ledger)
    #expect(rig.lane.pending.quiet.zones.map(\.content.zone) == [LaneRig.zones[1]])
    rig.alert("c", zone: 1)
    rig.fetched()
    #expect(rig.lane.pending.quiet.isEmpty && rig.ledger.isBalanced)
  }

  /// What was matched while the attempt was in flight is not in its payload.
  @Test func `a change during an attempt is not covered by the attempt's alert`() {
    var rig = LaneRig()
    rig.alert("a")
    let wake = rig.wake()?.wake ?? 0
    rig.alert("a")
    rig.delivered()
    rig.lane.acknowledged(wake: wake, ledger: &rig.ledger)
    #expect(rig.lane.pending.quiet.zones.count == 1 && rig.ledger.isBalanced)
  }

  @Test func `a failed attempt leaves the zones that it named unchanged`() {
    var rig = LaneRig()
    rig.alert("a")
    rig.alert("b", zone: 1, runsApp: true)
    rig.wake()
    rig.postponed(1)
    #expect(rig.lane.pending.quiet.zones.map(\.isCovered) == [false])
    #expect(rig.lane.pending.zones.map(\.isFresh) == [true])
    #expect(rig.ledger.pending == 2 && rig.ledger.isBalanced)
  }

  @Test func `a withdrawn zone is no longer named`() {
    var rig = LaneRig()
    rig.alert("a")
    rig.alert("b", zone: 1)
    rig.wake()
    rig.delivered()
    rig.withdraw(zone: 0)
    #expect(rig.lane.pending.quiet.zones.map(\.content.zone) == [LaneRig.zones[1]])
    rig.lane.withdraw(
      .subscription(SubscriptionID("alerts"), .private), ledger: &rig.ledger)
    #expect(rig.lane.pending.quiet.isEmpty && rig.ledger.isBalanced)
  }

  /// P6, P11: the bound holds however many zones the alerts tell of.
  @Test func `the number of zones that alerts name is bounded`() {
    var rig = LaneRig()
    rig.limits.zonesPending = 2
    for index in 0..<4 { rig.alert("a\(index)", zone: index) }
    #expect(rig.lane.pending.quiet.zones.count == 2 && rig.lane.pending.quiet.overflow.count == 1)
    rig.fetched()
    #expect(rig.lane.pending.quiet.isEmpty && rig.ledger.isBalanced)
  }

  @Test func `a crash loses none of the zones that alerts named`() {
    var rig = LaneRig()
    rig.fetched()
    rig.alert("a")
    rig.wake()
    rig.delivered()
    rig.zone(1)
    rig.alert("b", zone: 2, runsApp: true)
    rig.wake()
    let recovered = rig.recovered()
    #expect(recovered.lane.pending.quiet.zones.map(\.content.zone) == [z0])
    #expect(recovered.lane.pending.zones.map(\.isFresh) == [true, true])
    #expect(recovered.ledger.recovered == 2, "the zone's delivery, and the alert's")
  }

  /// An alert with nothing to show becomes a background wake and counts in the background budget.
  @Test func `an alert with nothing to show becomes a background wake`() {
    var rig = LaneRig()
    rig.alert("a")
    rig.zone(0)
    rig.advance(1)
    rig.fold()
    #expect(rig.nextStep == .attempt(isAlert: true))
    rig.hush()
    #expect(rig.ledger.merged == 1 && rig.ledger.pending == 1 && rig.ledger.isBalanced)
    #expect(rig.wake()?.isAlert == false)
    #expect(rig.lane.alert.times.isEmpty && rig.lane.background.times.count == 1)
    rig.delivered()
    #expect(rig.ledger.woken == 1 && rig.ledger.pending == 0)
  }

  /// A zone for which several subscriptions fired stays pending when one of these subscriptions is
  /// removed, even if that subscription fired last.
  @Test func `a zone of several subscriptions stays when one of them is removed`() {
    var rig = LaneRig()
    rig.match(Sample.content("a", z0))
    rig.match(Sample.content("b", z0))
    rig.match(Sample.content("b", z0))
    rig.lane.withdraw(.subscription(SubscriptionID("b"), .private), ledger: &rig.ledger)
    #expect(rig.lane.pending.zones.count == 1 && rig.lane.pending.isFresh)
    rig.lane.withdraw(.subscription(SubscriptionID("a"), .private), ledger: &rig.ledger)
    #expect(rig.ledger.isBalanced)
  }
}
