@testable import RelayCore
import Testing

/// The adaptive budget: quick answers raise it, silence lowers it, it keeps its bounds, and its
/// wakes are spread over the hour.
@Suite struct LearntBudgetTests {
  private func rig(adapts: Bool = true) -> LaneRig {
    var rig = LaneRig()
    rig.policy.mode = adapts ? .adaptive : .fixed
    return rig
  }

  private func allowed(_ rig: LaneRig) -> Int { rig.lane.backgroundRule(rig.policy).max }

  /// Makes one change, delivers its wake, and answers the wake `delay` seconds later. With `nil`
  /// the device does not answer.
  private func round(_ rig: inout LaneRig, answeredAfter delay: Double?) {
    rig.advance(300)
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

  @Test func `quick answers raise a used-up budget from the configured number to 12`() {
    var rig = rig()
    for _ in 0..<2 { round(&rig, answeredAfter: 2) }
    #expect(allowed(rig) == 3, "nothing is learnt of what was not tried")
    round(&rig, answeredAfter: 2)
    #expect(allowed(rig) == 4)
    for _ in 0..<40 { round(&rig, answeredAfter: 2) }
    #expect(allowed(rig) == 12)
  }

  @Test func `a learnt number that equals the configured one rises only if it is used up`() {
    let configured = Budget.Rule(max: 3, per: .hours(1))
    var learnt = LearntBudget(max: 3)
    learnt.answered(after: .seconds(1), spent: 2, configured)
    #expect(learnt.max == 3)
    learnt.answered(after: Span(milliseconds: 60_001), spent: 3, configured)
    #expect(learnt.max == 3, "the answer was not quick")
    learnt.answered(after: .seconds(60), spent: 3, configured)
    #expect(learnt.max == 4)
  }

  @Test func `a slow answer does not change the budget`() {
    var rig = rig()
    for _ in 0..<5 { round(&rig, answeredAfter: 61) }
    #expect(allowed(rig) == 3)
  }

  @Test func `silence halves the budget down to two if the device answered before`() {
    var rig = rig()
    for _ in 0..<3 { round(&rig, answeredAfter: nil) }
    #expect(allowed(rig) == 3)
    round(&rig, answeredAfter: 100)
    for _ in 0..<3 { round(&rig, answeredAfter: nil) }
    #expect(allowed(rig) == 2)
    round(&rig, answeredAfter: 20)
    #expect(allowed(rig) == 3, "below what is configured it rises without being used up")
  }

  /// What was learnt survives a restart. A re-wake of the ladder without an answer counts as
  /// silence too.
  @Test func `the learnt budget survives a restart`() {
    var rig = rig()
    for _ in 0..<6 { round(&rig, answeredAfter: 1) }
    let again = rig.recovered()
    #expect(allowed(again) == 6, "the third used the hour up, and each one since")
    var silent = again
    round(&silent, answeredAfter: nil)
    #expect(silent.wake() != nil, "the first rung of the ladder")
    silent.delivered()
    #expect(allowed(silent) == 3)
  }

  @Test func `a fixed budget learns nothing`() {
    var rig = rig(adapts: false)
    for _ in 0..<5 { round(&rig, answeredAfter: 1) }
    #expect(allowed(rig) == 3 && rig.lane.adaptation.learnt == LearntBudget())
  }

  /// With three wakes an hour an even gap is 20 minutes.
  @Test func `an adaptive budget's wakes are spread evenly over the hour`() {
    var rig = rig()
    round(&rig, answeredAfter: 20)
    round(&rig, answeredAfter: 20)
    round(&rig, answeredAfter: 20)
    round(&rig, answeredAfter: 20)
    let times = rig.attempts.map(\.at)
    let gaps = (1..<4).map { times[$0] - times[$0 - 1] }
    #expect(gaps[0] == .minutes(20) && gaps[1] == .minutes(20))
    #expect(gaps[2] == .minutes(15), "four an hour by now")
  }

  @Test func `a device that does not answer is woken less often, at last hourly`() {
    var rig = rig()
    round(&rig, answeredAfter: 100)
    rig.advance(3_600)
    for _ in 0..<8 { round(&rig, answeredAfter: nil) }
    #expect(minutes(rig).suffix(7) == [20, 40, 30, 30, 30, 60, 60], "after one, two, … seven")
    round(&rig, answeredAfter: 100)
    for _ in 0..<2 { round(&rig, answeredAfter: 200) }
    #expect(minutes(rig).suffix(2) == [30, 30], "it is back")
  }

  /// Silence lowers a budget to two wakes at the least, and does not raise a budget of one to two.
  @Test func `silence leaves a configured budget of one wake unchanged`() {
    var rig = rig()
    rig.policy.background.max = 1
    round(&rig, answeredAfter: 100)
    for _ in 0..<3 { round(&rig, answeredAfter: nil) }
    #expect(allowed(rig) == 1)
  }

  private func minutes(_ rig: LaneRig) -> [Int64] {
    let times = rig.attempts.map(\.at)
    return zip(times.dropFirst(), times).map { ($0 - $1).milliseconds / 60_000 }
  }

  /// A re-wake repeats an earlier wake that the device has not answered.
  @Test func `unanswered re-wakes count only as silence`() {
    var rig = rig()
    round(&rig, answeredAfter: 100)
    round(&rig, answeredAfter: nil)
    for _ in 0..<4 {
      #expect(rig.wake()?.isLadder == true)
      rig.delivered()
    }
    #expect(allowed(rig) == 2)
  }

  /// A fetch may be served before the provider's answer to the push has come back.
  @Test func `an answer that arrives before the verdict counts`() {
    var rig = rig()
    round(&rig, answeredAfter: 100)
    for _ in 0..<3 {
      rig.zone(0)
      rig.wake()
      rig.fetched()
      rig.delivered()
    }
    #expect(allowed(rig) == 5)
  }

  /// P7: the bound of twelve takes the place of the configured number.
  @Test func `an adaptive budget allows at most 12 wakes in any hour`() {
    var rig = rig()
    for _ in 0..<80 { round(&rig, answeredAfter: 1) }
    let times = rig.attempts.map(\.at)
    for (index, time) in times.enumerated().dropFirst(12) {
      #expect(time - times[index - 12] >= .hours(1))
    }
  }
}
