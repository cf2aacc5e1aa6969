import RelaySimulation
import Testing

/// Virtual days of traffic and phones. `zonerelay-simulate season` runs thirty days a seed, and
/// thousands of seeds, and its report compares rules for background wakes (`SeasonRule`). These
/// tests run a few seeds for a few days.
@Suite struct SeasonTests {
  @Test func `wakes, budgets and the ledger keep their promises in the first seasons`() {
    for seed in UInt64(1)...24 {
      guard let broken = Season.run(seed: seed, days: 4).broken else { continue }
      Issue.record("\(broken.promise.rawValue) broken by season \(seed): \(broken.text)")
    }
  }

  @Test func `one seed always gives the same season`() {
    let (first, second) = (Season.run(seed: 7, days: 4), Season.run(seed: 7, days: 4))
    #expect(first.steps == second.steps && first.figures.freshness == second.figures.freshness)
    #expect(first.figures.attempts == second.figures.attempts && first.figures.attempts > 0)
  }

  /// One planted bug for each promise that a season checks.
  @Test(arguments: Season.plants)
  func `the checker of each promise finds the bug planted against it`(
    mutant: Mutant
  ) {
    for seed in UInt64(1)...40 {
      let outcome = Season.run(seed: seed, mutant: mutant, days: 4)
      guard let broken = outcome.broken else { continue }
      #expect(broken.promise == mutant.promise, "\(broken.text)")
      return
    }
    Issue.record("\(mutant) was not caught")
  }

  /// The changes and the phones' events are the same under every `SeasonRule`.
  @Test func `every rule runs through the same season`() {
    let seasons = [SeasonRule.fixed(3), .signal, .adaptive].map {
      Season.run(seed: 3, shape: .steady, rule: $0, days: 3).figures
    }
    #expect(Set(seasons.map(\.changes)).count == 1)
    #expect(Set(seasons.map(\.freshness.count)).count == 1)
  }

  /// Over four seasons of steady traffic the adaptive budget sends fewer than 95 % of the fixed
  /// budget's pushes, and fewer than 105 % of those under `signal`, the rule of the messenger
  /// Signal (one wake in 20 minutes). `freshness` is the time from a change to its fetch; time in
  /// which the phone cannot be reached does not count. Its 99th percentile is less than 15 % longer
  /// than under either of these two rules, and its median is no longer than under `signal`.
  @Test func `the adaptive budget sends fewer pushes than the fixed one, with p99 hardly later`() {
    func sum(_ rule: SeasonRule) -> SeasonFigures {
      (UInt64(1)...4).reduce(SeasonFigures()) {
        $0 + Season.run(seed: $1, shape: .steady, rule: rule, days: 3).figures
      }
    }
    let (adaptive, signal, fixed) = (sum(.adaptive), sum(.signal), sum(.fixed(3)))
    for other in [signal, fixed] {
      let pushes = adaptive.pushesPerHour / other.pushesPerHour
      let late = Double(adaptive.freshness(percent: 99)) / Double(other.freshness(percent: 99))
      #expect(pushes < 1.05 && late < 1.15, "\(pushes) of the pushes, p99 \(late)")
    }
    #expect(adaptive.freshness(percent: 50) <= signal.freshness(percent: 50))
    #expect(adaptive.pushesPerHour / fixed.pushesPerHour < 0.95)
  }
}
