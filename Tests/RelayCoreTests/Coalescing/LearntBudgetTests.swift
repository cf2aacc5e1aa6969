@testable import RelayCore
import Testing

/// The budget that adapts: quick answers raise it, silence lowers it, within its bounds.
@Suite struct LearntBudgetTests {
  private func rig(adapts: Bool = true) -> LaneRig {
    var rig = LaneRig()
    rig.policy.adapts = adapts
    return rig
  }

  private func allowed(_ rig: LaneRig) -> Int { rig.lane.backgroundRule(rig.policy).max }

  /// A wake that is delivered, and answered `delay` seconds later.
  private func round(_ rig: inout LaneRig, answeredAfter delay: Double?) {
    rig.zone(0)
    guard rig.wake() != nil else {
      Issue.record("no wake")
      return
    }
    rig.delivered()
    guard let delay else { return }
    rig.advance(delay)
    rig.lane.answered(at: rig.now, policy: rig.policy)
    rig.fetched()
  }

  @Test func itBeginsWithWhatIsConfiguredAndQuickAnswersRaiseItToTwelve() {
    var rig = rig()
    #expect(allowed(rig) == 3)
    round(&rig, answeredAfter: 60)
    #expect(allowed(rig) == 4)
    for _ in 0..<20 { round(&rig, answeredAfter: 2) }
    #expect(allowed(rig) == 12)
  }

  @Test func aSlowAnswerChangesNothing() {
    var rig = rig()
    for _ in 0..<3 { round(&rig, answeredAfter: 61) }
    #expect(allowed(rig) == 3)
  }

  @Test func silenceLowersItToOneButNotOfADeviceThatNeverGaveASign() {
    var rig = rig()
    for _ in 0..<3 { round(&rig, answeredAfter: nil) }
    #expect(allowed(rig) == 3)
    round(&rig, answeredAfter: 100)
    for _ in 0..<9 { round(&rig, answeredAfter: nil) }
    #expect(allowed(rig) == 1)
  }

  /// The ladder's wakes are silence too, and what was learnt outlives the process.
  @Test func itIsKeptInTheLanesRecord() {
    var rig = rig()
    for _ in 0..<4 { round(&rig, answeredAfter: 1) }
    let again = rig.recovered()
    #expect(allowed(again) == 7)
    var silent = again
    round(&silent, answeredAfter: nil)
    #expect(silent.wake() != nil, "the first rung of the ladder")
    silent.delivered()
    #expect(allowed(silent) == 6)
  }

  @Test func offItLearnsNothing() {
    var rig = rig(adapts: false)
    for _ in 0..<5 { round(&rig, answeredAfter: 1) }
    #expect(allowed(rig) == 3 && rig.lane.learnt == LearntBudget())
  }

  /// P7 with the bound in place of the number.
  @Test func neverMoreThanTwelveInAnyHour() {
    var rig = rig()
    for _ in 0..<80 { round(&rig, answeredAfter: 1) }
    let times = rig.attempts.map(\.at)
    for (index, time) in times.enumerated().dropFirst(12) {
      #expect(time - times[index - 12] >= .hours(1))
    }
  }
}
