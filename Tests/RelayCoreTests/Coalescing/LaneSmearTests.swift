@testable import RelayCore
import Testing

/// Transcripts of lanes with a slot in a smear.
@Suite struct LaneSmearTests {
  @Test func `a hot zone is told at its slot and not before`() {
    var rig = LaneRig()
    rig.hot(0, in: 60)
    #expect(rig.wake()?.wake == 1)
    #expect(rig.now == .s(60))
    rig.delivered()
    #expect(rig.lane.state == .idle && rig.ledger.isBalanced && rig.ledger.woken == 1)
  }

  @Test func `further changes of a hot zone merge and keep the slot`() {
    var rig = LaneRig()
    for _ in 0..<10 {
      rig.hot(0, in: 60)
      rig.advance(5)
    }
    rig.hot(1, in: 60)
    #expect(rig.wake() != nil)
    #expect(rig.now == .s(60))
    #expect(rig.ledger.merged == 9)
  }

  @Test func `a lane that cannot be woken at its slot gets no later slot`() {
    var rig = LaneRig()
    rig.policy.background = Budget.Rule(max: 1, per: .hours(1))
    rig.zone(1)
    rig.wake()
    rig.delivered()
    rig.hot(0, in: 60)
    rig.advance(120)
    rig.hot(0, in: 60)
    #expect(rig.lane.slot == .s(60.5))
    #expect(rig.wake() != nil)
    #expect(rig.now == .s(0.5) + .hours(1), "the budget opens")
  }

  @Test func `a fetch cancels the wake, but a later change keeps the same slot`() {
    var rig = LaneRig()
    rig.hot(0, in: 60)
    rig.advance(10)
    rig.fetched(zone: 0)
    #expect(rig.lane.state == .idle && rig.nextStep == .nothing && rig.ledger.fetched == 1)
    rig.advance(10)
    rig.hot(0, in: 60)
    #expect(rig.wake() != nil)
    #expect(rig.now == .s(60))
  }

  @Test func `a wake for another zone comes after its window and covers the hot zone`() {
    var rig = LaneRig()
    rig.hot(0, in: 60)
    rig.advance(10)
    _ = rig.nextStep
    rig.zone(1)
    rig.advance(0.3)
    rig.zone(1)
    #expect(rig.wake() != nil)
    #expect(rig.now == .s(10.8), "its changes gather as ever")
    rig.delivered()
    #expect(rig.lane.state == .idle, "the hot zone was told with it")
    #expect(rig.ledger.woken == 2)
  }

  @Test func `a change that is not hot ends the zone's wait for its slot`() {
    var rig = LaneRig()
    rig.hot(0, in: 60)
    rig.advance(10)
    _ = rig.nextStep
    rig.zone(0)
    #expect(rig.wake() != nil)
    #expect(rig.now == .s(10.5))
  }

  @Test func `an alert of a hot zone is shown at once`() {
    var rig = LaneRig()
    rig.hot(0, in: 60)
    rig.hotAlert("a")
    #expect(rig.wake(covering: false)?.isAlert == true)
    #expect(rig.now == .s(0.5))
    rig.delivered()
    #expect(rig.wake()?.isAlert == false)
    #expect(rig.now == .s(60))
  }

  @Test func `the ladder of a device told early counts from its slot`() {
    var rig = LaneRig()
    rig.fetched()
    rig.hot(0, in: 600)
    rig.zone(1)
    rig.wake()
    rig.delivered()
    rig.fetched(zone: 1)
    #expect(rig.wake()?.isLadder == true)
    #expect(rig.now == .s(600) + .minutes(5))
  }

  @Test func `a restart keeps the slot`() {
    var rig = LaneRig()
    rig.hot(0, in: 60)
    rig.advance(20)
    var after = rig.recovered()
    after.hot(0, in: 60)
    #expect(after.wake() != nil)
    #expect(after.now == .s(60))
  }

  @Test func `a late lane is sent back for a new slot only once`() {
    var rig = LaneRig()
    rig.hot(0, in: 60)
    rig.now = .s(64)
    #expect(rig.lane.lateZone(at: rig.now) == nil)
    rig.now = .s(65)
    #expect(rig.lane.lateZone(at: rig.now) == LaneRig.zones[0])
    rig.lane.wait(for: .s(90), isSentBack: true)
    #expect(rig.wake() != nil)
    #expect(rig.now == .s(90))
    rig.postponed(300)
    rig.advance(300)
    #expect(rig.lane.lateZone(at: rig.now) == nil, "once")
    rig.wake()
    rig.delivered()
    rig.hot(0, in: 60)
    rig.advance(100)
    #expect(rig.lane.lateZone(at: rig.now) != nil)
    rig.zone(1)
    #expect(rig.lane.lateZone(at: rig.now) == nil, "something else is to be told anyway")
  }

  @Test func `a lane without a slot is not late for one`() {
    var rig = LaneRig()
    rig.match(Sample.content("zones", LaneRig.zones[0]), isHot: true)
    rig.advance(600)
    #expect(rig.lane.slot == .zero && rig.lane.lateZone(at: rig.now) == nil)
  }

  // MARK: The courier

  @Test func `the courier also waits for the slot`() {
    for hasProvider in [true, false] {
      var rig = LaneRig()
      rig.lane.registered(withProvider: hasProvider)
      rig.connect()
      rig.hot(0, in: 60)
      #expect(rig.wake() != nil)
      #expect(rig.now == .s(60))
      if case .inFlight(let attempt) = rig.lane.state { #expect(attempt.isOverCourier) }
    }
  }

  @Test func `a slot does not delay the push after the grace`() {
    var rig = LaneRig()
    rig.connect()
    rig.zone(1)
    rig.wake()
    rig.delivered()
    let told = rig.now
    rig.advance(1)
    rig.hot(0, in: 60)
    #expect(rig.wake() != nil)
    #expect(rig.now == told + rig.policy.courierGrace)
    if case .inFlight(let attempt) = rig.lane.state { #expect(!attempt.isOverCourier) }
  }

  /// From its slot on, the lane may tell its hot changes.
  @Test func `a lane holds its hot change before the slot, and not at the slot`() {
    var rig = LaneRig()
    rig.hot(0, in: 60)
    rig.advance(59.999)
    _ = rig.nextStep
    #expect(rig.lane.isAllHeld(at: rig.now))
    rig.advance(0.001)
    #expect(!rig.lane.isAllHeld(at: rig.now))
  }
}
