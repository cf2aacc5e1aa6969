@testable import RelayCore
import Testing

/// A budget with a share reserved for urgent changes, and a lane without a budget.
@Suite struct ReservedBudgetTests {
  private func rig(_ mode: BudgetMode = .fixed, reserved: Int) -> LaneRig {
    var rig = LaneRig()
    rig.policy.mode = mode
    rig.policy.reserved = reserved
    return rig
  }

  private func round(_ rig: inout LaneRig, isUrgent: Bool = false) -> Span {
    let before = rig.now
    rig.zone(0, isUrgent: isUrgent)
    #expect(rig.wake() != nil)
    rig.delivered()
    return rig.now - before
  }

  @Test func `ordinary changes do not spend the reserved share`() {
    var rig = rig(reserved: 1)
    #expect(round(&rig) < .seconds(1))
    #expect(round(&rig) < .seconds(1))
    #expect(round(&rig) > .minutes(59))
  }

  @Test func `urgent changes may spend the whole budget`() {
    var rig = rig(reserved: 1)
    for _ in 0..<2 { _ = round(&rig) }
    #expect(round(&rig, isUrgent: true) < .seconds(1))
    #expect(round(&rig, isUrgent: true) > .minutes(59), "the budget holds for it too")
  }

  @Test func `an urgent change's wake also covers ordinary changes`() {
    var rig = rig(reserved: 2)
    _ = round(&rig)
    rig.zone(1)
    rig.advance(1)
    #expect(rig.nextStep == .fold)
    rig.fold()
    #expect(rig.nextStep == .timer(.s(0.5) + .hours(1), .backgroundBudget))
    rig.zone(2, isUrgent: true)
    #expect(rig.wake() != nil)
    rig.delivered()
    #expect(rig.now - Sample.start < .seconds(5) && !rig.lane.pending.isFresh)
  }

  @Test func `a change stays urgent until it is told`() {
    var rig = rig(reserved: 1)
    for _ in 0..<2 { _ = round(&rig) }
    rig.zone(0, isUrgent: true)
    #expect(rig.wake() != nil)
    rig.postponed(1)
    #expect(rig.lane.pending.isUrgent, "the attempt failed")
    #expect(rig.recovered().lane.pending.isUrgent)
    #expect(rig.wake() != nil)
    rig.delivered()
    rig.zone(0)
    #expect(!rig.lane.pending.isUrgent)
  }

  /// P5: ordinary wakes go on, however much is reserved and however far silence has lowered the
  /// budget.
  @Test func `ordinary changes always keep one wake of the budget`() {
    var rig = rig(.adaptive, reserved: 2)
    rig.fetched()
    for _ in 0..<6 { _ = round(&rig) }
    #expect(rig.lane.backgroundRule(rig.policy).max == 1)
    #expect(round(&rig) <= .hours(1))
  }

  @Test func `every window has its wake without a budget`() {
    var rig = rig(.off, reserved: 0)
    for _ in 0..<50 { #expect(round(&rig) < .seconds(1)) }
    #expect(rig.lane.background.times.isEmpty, "and nothing grows")
  }
}
