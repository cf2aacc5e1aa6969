/// Runs histories and says which promise broke where.
package enum Simulation {
  package struct Outcome: Sendable {
    package var seed: UInt64
    package var steps: Int
    /// Equal for equal seeds.
    package var digest: UInt64
    package var tally = Tally()
    package var broken: (promise: Promise, step: Int, text: String)?
  }

  /// One seed's history, from empty store to rest.
  ///
  /// - Parameters:
  ///   - planted: a bug that the checkers are to find.
  ///   - tell: hears every happening, for people.
  package static func run(
    seed: UInt64, planted: Planted? = nil, tell: ((String) -> Void)? = nil
  ) -> Outcome {
    let world = World(seed: seed, planted: planted, tell: tell)
    var outcome = Outcome(seed: seed, steps: 0, digest: 0)
    do {
      try world.run()
    } catch let broken as Broken {
      outcome.broken = (broken.promise, world.step, broken.text)
    } catch {
      preconditionFailure("the simulation throws nothing but broken promises: \(error)")
    }
    outcome.steps = world.step
    outcome.tally = world.tally
    outcome.digest = world.digest
    return outcome
  }
}
