import RelaySimulation

/// `zonerelay-simulate season`: thirty virtual days for each seed.
enum SeasonCommand {
  static func run(_ options: SimulateOptions) async -> Bool {
    if options.isReport {
      let report = await SeasonReport.run(options)
      for broken in report.broken.prefix(20) { complain(broken) }
      guard report.broken.isEmpty else { return false }
      print(options.isJSON ? report.json : report.table)
      return true
    }
    if let mutant = options.mutant {
      return hunt(mutant, options, "season") { seed in
        Season.run(seed: seed, mutant: mutant).broken.map { ($0.promise, ": \($0.text)") }
      }
    }
    return await check(options)
  }

  private static func check(_ options: SimulateOptions) async -> Bool {
    var steps = 0
    var broken = 0
    var sum = SeasonFigures()
    await parallel(options.range, jobs: options.jobs) { seed in
      var outcome = Season.run(seed: seed)
      outcome.figures.freshness = []
      return outcome
    } each: { outcome in
      steps += outcome.steps
      sum = sum + outcome.figures
      guard let found = outcome.broken else { return }
      broken += 1
      guard broken <= 20 else { return }
      print("\(found.promise.rawValue) broken: season \(outcome.seed): \(found.text)")
      print("replay: zonerelay-simulate season --seed \(outcome.seed)")
    }
    print(sum.line)
    print("\(options.count) seasons of 30 days, \(steps) steps, \(broken) broken")
    return broken == 0
  }
}

/// Runs every seed once, several at a time, and passes the outcomes to `each` in the order of the
/// seeds.
func parallel<Outcome: Sendable>(
  _ seeds: Range<UInt64>, jobs: Int, _ run: @escaping @Sendable (UInt64) -> Outcome,
  each: (Outcome) -> Void
) async {
  let batch = UInt64(jobs * 8)
  var first = seeds.lowerBound
  while first < seeds.upperBound {
    let some = first..<min(first + batch, seeds.upperBound)
    let outcomes = await withTaskGroup(of: (UInt64, Outcome).self) { group in
      var waiting = some.makeIterator()
      for seed in (0..<jobs).compactMap({ _ in waiting.next() }) {
        group.addTask { (seed, run(seed)) }
      }
      var found: [(UInt64, Outcome)] = []
      while let outcome = await group.next() {
        found.append(outcome)
        if let seed = waiting.next() { group.addTask { (seed, run(seed)) } }
      }
      return found
    }
    for (_, outcome) in outcomes.sorted(by: { $0.0 < $1.0 }) { each(outcome) }
    first = some.upperBound
  }
}
