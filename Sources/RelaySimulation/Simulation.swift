import RelayCore

/// Runs histories and reports which promise broke at which step.
package enum Simulation {
  package struct Outcome: Sendable {
    package var seed: UInt64
    package var steps = 0
    /// A running digest of all events: equal for equal seeds.
    package var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    package var counts = SimulationCounts()
    /// The branches that the coordinator reached in any life.
    var reached = Branches()
    package var explained = ExplanationCounts()
    package var broken: (promise: Invariant, step: Int, text: String)?

    init(seed: UInt64) { self.seed = seed }
  }

  /// Whether this seed's world checks explanations. Most worlds do not, because the check takes
  /// time.
  package static func explains(seed: UInt64) -> Bool { Plan(seed: seed)[.explained] > 0 }

  /// Runs one seed's history, from an empty store until the relay is at rest.
  ///
  /// - Parameters:
  ///   - mutant: a bug that the checkers must find.
  ///   - tell: called with every event, as a line for people.
  package static func run(
    seed: UInt64, mutant: Mutant? = nil, tell: ((String) -> Void)? = nil
  ) -> Outcome {
    let world = World(seed: seed, mutant: mutant, tell: tell)
    if let broken = violation(in: world.run) {
      world.outcome.broken = (broken.promise, world.outcome.steps, broken.text)
    }
    return world.outcome
  }
}
