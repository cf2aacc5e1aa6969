import RelayCore

/// Runs histories and reports which promise broke at which step.
package enum Simulation {
  package struct Outcome: Sendable {
    package var seed: UInt64
    package var steps: Int
    /// Equal for equal seeds.
    package var digest: UInt64
    package var counts = SimulationCounts()
    /// The branches that the coordinator reached in any life.
    var reached = Branches()
    package var broken: (promise: Invariant, step: Int, text: String)?
  }

  /// Runs one seed's history, from an empty store to rest.
  ///
  /// - Parameters:
  ///   - mutant: a bug that the checkers must find.
  ///   - tell: called with every event, as a line for people.
  package static func run(
    seed: UInt64, mutant: Mutant? = nil, tell: ((String) -> Void)? = nil
  ) -> Outcome {
    let world = World(seed: seed, mutant: mutant, tell: tell)
    var outcome = Outcome(seed: seed, steps: 0, digest: 0)
    do {
      try world.run()
    } catch let broken as InvariantViolation {
      outcome.broken = (broken.promise, world.step, broken.text)
    } catch {
      preconditionFailure("the simulation throws nothing but broken promises: \(error)")
    }
    outcome.steps = world.step
    outcome.counts = world.counts
    outcome.reached = world.reached
    outcome.digest = world.digest
    return outcome
  }
}
