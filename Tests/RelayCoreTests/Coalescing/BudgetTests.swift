import RelayCore
import Testing

/// P7: a budget allows at most `max` wakes in any stretch of time `per`.
@Suite struct BudgetTests {
  private let rule = Budget.Rule(max: 3, per: .hours(1))

  @Test func `a spent budget opens when its oldest wake is old enough`() {
    var budget = Budget()
    for minute in [0.0, 10, 20] {
      #expect(budget.opens(rule, at: .s(minute * 60)) == .s(minute * 60))
      budget.spend(rule, at: .s(minute * 60))
    }
    #expect(budget.opens(rule, at: .s(21 * 60)) == .s(3_600))
    budget.spend(rule, at: .s(3_600))
    #expect(budget.times == [.s(600), .s(1_200), .s(3_600)])
    #expect(budget.opens(rule, at: .s(3_600)) == .s(600 + 3_600))
  }

  @Test func `no stretch of time holds more wakes than the rule allows`() {
    var draw = SeededRandom(seed: 4)
    for _ in 0..<200 {
      let rule = Budget.Rule(max: 1 + draw.below(4), per: .seconds(Int64(1 + draw.below(50))))
      var budget = Budget()
      var spent: [Instant] = []
      var now = Sample.start
      for _ in 0..<60 {
        now = now + .seconds(Int64(draw.below(20)))
        guard budget.opens(rule, at: now) <= now else { continue }
        budget.spend(rule, at: now)
        spent.append(now)
        #expect(budget.times.count <= rule.max)
      }
      for (index, time) in spent.enumerated().dropFirst(rule.max) {
        #expect(time - spent[index - rule.max] >= rule.per)
      }
    }
  }

  @Test func `a budget with a maximum of 0 never opens`() {
    #expect(Budget().opens(Budget.Rule(max: 0, per: .hours(1)), at: .zero) == .never)
  }

  /// A rule that a reload made smaller holds at once.
  @Test func `a smaller rule counts the newest wakes`() {
    let budget = Budget(times: [.s(0), .s(10), .s(20)])
    #expect(budget.opens(Budget.Rule(max: 1, per: .hours(1)), at: .s(30)) == .s(20 + 3_600))
  }
}
