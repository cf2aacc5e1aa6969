import RelayCore
import Testing

/// P5, P6: the number of pending subjects is bounded, and no pending change is forgotten.
@Suite struct LaneBoundsTests {
  private func full() -> LaneRig {
    var rig = LaneRig()
    rig.limits.zonesPending = 1
    rig.zone(0)
    rig.zone(1)
    rig.zone(2)
    return rig
  }

  @Test func `zones beyond the limit are pending as one subject`() {
    let rig = full()
    #expect(rig.lane.pending.zones.count == 1 && rig.lane.pending.overflow.count == 1)
    #expect(rig.ledger.pending == 2 && rig.ledger.merged == 1)
  }

  @Test func `a fetch of one zone leaves the other zones pending`() {
    var rig = full()
    rig.fetched(zone: 2)
    #expect(rig.lane.pending.overflow.count == 1)
    rig.fetched(zone: 0)
    #expect(rig.wake() != nil)
    rig.fetched()
    #expect(rig.lane.pending.isEmpty && rig.ledger.isBalanced)
  }

  /// The other zones still wake the device, and the wake names no withdrawn zone (P9).
  @Test func `a withdrawn zone is not named, and the other zones stay pending`() {
    var rig = full()
    rig.withdraw(zone: 2)
    #expect(rig.lane.pending.overflow.count == 1)
    #expect(!rig.lane.pending.subjects.contains { $0.content.zone == LaneRig.zones[2] })
    #expect(rig.ledger.isBalanced && rig.ledger.withdrawn == 0)
    rig.withdraw(zone: 0)
    #expect(rig.wake() != nil)
    #expect(!rig.lane.pending.subjects.contains { $0.content.zone == LaneRig.zones[0] })
  }

  /// A re-wake of the ladder that the provider postpones rests for as long as the provider says.
  @Test func `a postponed re-wake rests like any other wake`() {
    var rig = LaneRig()
    rig.fetched()
    rig.zone(0)
    rig.wake()
    rig.delivered()
    rig.fold()
    let first = rig.wake()
    #expect(first?.isLadder == true)
    rig.postponed(600)
    rig.fold()
    let rest = rig.now + .seconds(600)
    #expect(rig.nextStep == .timer(rest, .rest))
    let second = rig.wake()
    #expect(rig.now == rest)
    #expect(second?.wake == first?.wake && second?.isLadder == true)
    rig.delivered()
    #expect(rig.lane.ladderStep == 1 && rig.lane.state == .watching)
  }

  @Test func `a wake number is never reused after a crash`() {
    var rig = LaneRig()
    rig.zone(0)
    rig.wake()
    let given = rig.lane.nextWake
    #expect(rig.recovered().lane.nextWake >= given)
    rig.delivered()
    for _ in 0..<40 {
      rig.zone(0)
      rig.advance(3_600)
      let wake = rig.wake()?.wake ?? 0
      #expect(wake < rig.lane.reservedWake)
      rig.delivered()
    }
  }
}
