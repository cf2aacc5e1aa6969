import Testing

@testable import RelayCore

@Suite struct FoldScheduleTests {
  private func at(_ milliseconds: Int64) -> Instant { Instant(milliseconds: milliseconds) }

  /// After a quiet time the first change is folded at once. Later changes share folds for a while.
  @Test func `folds are rare under load, but soon when a reader waits`() {
    var schedule = FoldSchedule()
    #expect(schedule.next(at: at(10_000), isDirty: false, isAwaited: true) == .nothing)
    #expect(schedule.next(at: at(10_000), isDirty: true, isAwaited: false) == .cut)
    #expect(schedule.next(at: at(10_001), isDirty: true, isAwaited: true) == .nothing)
    schedule.ended(at: at(10_005), isDurable: true)
    #expect(
      schedule.next(at: at(10_006), isDirty: true, isAwaited: false) == .wait(until: at(10_205)))
    #expect(
      schedule.next(at: at(10_006), isDirty: true, isAwaited: true) == .wait(until: at(10_025)))
    #expect(schedule.next(at: at(10_025), isDirty: true, isAwaited: true) == .cut)
  }

  /// A fold that failed is tried again with the same cut, even if nothing new is dirty.
  @Test func `a failed fold is tried again`() {
    var schedule = FoldSchedule()
    #expect(schedule.next(at: at(5_000), isDirty: true, isAwaited: false) == .cut)
    schedule.ended(at: at(5_010), isDurable: false)
    #expect(
      schedule.next(at: at(5_020), isDirty: false, isAwaited: false) == .wait(until: at(6_010)))
    #expect(schedule.next(at: at(6_010), isDirty: true, isAwaited: true) == .again)
    #expect(schedule.next(at: at(8_000), isDirty: true, isAwaited: true) == .nothing)
    schedule.ended(at: at(6_020), isDurable: true)
    #expect(schedule.next(at: at(9_000), isDirty: false, isAwaited: false) == .nothing)
  }
}
