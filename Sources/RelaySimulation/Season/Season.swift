/// A season: thirty virtual days, to check promises or to compare rules.
package enum Season {
  /// Planted bugs that a season's checkers find.
  package static let plants: [Mutant] = [
    .dropsPushes, .pushesTwice, .forgetsBudgets, .countsTwice,
  ]

  package struct Outcome: Sendable {
    package var seed: UInt64
    package var steps: Int
    package var figures: SeasonFigures
    package var broken: (promise: Invariant, text: String)?
  }

  /// Runs one seed's small season, with traffic, rule and faults that the seed chooses.
  ///
  /// - Parameter mutant: a bug that the checkers of P5, P6, P7 or P12 must find.
  package static func run(
    seed: UInt64, mutant: Mutant? = nil, days: Int = 30
  ) -> Outcome {
    var plan = SeasonPlan(seed: seed)
    plan.days = Int64(days)
    if let mutant { plan.ripen(for: mutant) }
    return run(SeasonWorld(seed: seed, plan: plan, mutant: mutant))
  }

  /// Runs one seed's season under a rule; everything that does not depend on the rule is the same
  /// for all rules.
  package static func run(
    seed: UInt64, shape: SeasonShape, rule: SeasonRule, days: Int = 30
  ) -> Outcome {
    var plan = SeasonPlan(seed: seed, shape: shape, rule: rule)
    plan.days = Int64(days)
    return run(SeasonWorld(seed: seed, plan: plan, mutant: nil))
  }

  private static func run(_ world: SeasonWorld) -> Outcome {
    let broken = violation(in: world.run)
    return Outcome(
      seed: world.seed, steps: world.step, figures: world.figures,
      broken: broken.map { ($0.promise, $0.text) })
  }
}
