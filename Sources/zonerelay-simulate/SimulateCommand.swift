import Glibc
import RelaySimulation

/// `zonerelay-simulate`: runs seeds of the simulation and reports broken promises with their seed.
@main
struct SimulateCommand {
  static let help = """
    usage: zonerelay-simulate [--seeds N] [--from N] [--seed N [--verbose]] [--plant BUG]
           zonerelay-simulate season [--seeds N] [--from N] [--jobs N] [--plant P5|P6|P7|P12]
           zonerelay-simulate season --report [--traffic T] [--json] [--seeds N] [--from N]
                                     [--jobs N]

    Runs the real core in a simulated world, one seed a history, and checks its promises.

    season: thirty virtual days of traffic (steady, bursts, night, one hot zone, a flapping
    provider, dead tokens) and of phones as Apple treats them; P5, P6, P7 and P12 are checked all
    the while. With --report: pushes a device-hour, freshness and budget use, by traffic, under a
    fixed budget, Signal's rule and the adaptive budget, in the same seasons.

      --seeds N     how many seeds to run (default 1000; 10 for a report)
      --from N      the first seed (default 1)
      --seed N      one seed only; with --verbose every event is told
      --plant BUG   puts one bug into the simulated shell, store or world: exits 0 when the
                    checkers catch it. P1 to P12 take the first one that breaks this promise;
                    others by name: tearsRequests, commitsEverything, triesForEver, believesClocks,
                    losesEntries, mixesAlerts
      --jobs N      how many seasons run at a time (default: one a core)
      --traffic T   reports one kind of traffic: steady, bursts, night, hot-zone, flapping or
                    dead-tokens (default: all)
      --json        the report as one JSON object a line
      --help        this text

    Exit: 0 all promises held (or the planted bug was caught), 1 not, 64 wrong usage.
    """

  static func main() async {
    let options: SimulateOptions
    do {
      options = try SimulateOptions(Array(CommandLine.arguments.dropFirst()))
    } catch {
      complain("zonerelay-simulate: error: \(error.text)")
      complain("zonerelay-simulate: hint: see --help")
      exit(64)
    }
    if options.isHelp {
      print(help)
    } else if options.isSeason {
      exit(await SeasonCommand.run(options) ? 0 : 1)
    } else if let mutant = options.mutant {
      let isCaught = hunt(mutant, options, "seed") { seed in
        let tell: ((String) -> Void)? = options.isVerbose ? { print($0) } : nil
        return Simulation.run(seed: seed, mutant: mutant, tell: tell).broken.map {
          ($0.promise, ", step \($0.step): \($0.text)")
        }
      }
      exit(isCaught ? 0 : 1)
    } else {
      exit(check(options) ? 0 : 1)
    }
  }

  private static func check(_ options: SimulateOptions) -> Bool {
    var broken = 0
    var steps = 0
    var counts = SimulationCounts()
    var coverage = Coverage()
    var explained = ExplanationCounts()
    for seed in options.range {
      let outcome = Simulation.run(seed: seed, tell: options.isVerbose ? { print($0) } : nil)
      steps += outcome.steps
      counts = counts + outcome.counts
      coverage.add(outcome)
      explained = explained + outcome.explained
      guard let found = outcome.broken else { continue }
      broken += 1
      print("\(found.promise.rawValue) broken: seed \(seed), step \(found.step): \(found.text)")
      print("replay: zonerelay-simulate --seed \(seed) --verbose")
      if broken == 20 {
        print("stopped after 20 broken seeds")
        break
      }
    }
    print(counts.line)
    if options.count > 1 { for line in coverage.lines + explained.lines { print(line) } }
    print("\(options.count) seeds, \(steps) steps, \(broken) broken")
    return broken == 0
  }
}

/// Runs seeds until the planted bug is found.
///
/// - Parameters:
///   - kind: the word for one run in the printed lines: `seed` or `season`.
///   - run: returns the promise that a seed broke, and a text that says where and how; nil if the
///     seed broke no promise.
func hunt(
  _ mutant: Mutant, _ options: SimulateOptions, _ kind: String,
  _ run: (UInt64) -> (promise: Invariant, text: String)?
) -> Bool {
  for seed in options.range {
    guard let found = run(seed) else { continue }
    print(
      "mutant \(mutant): caught by \(found.promise.rawValue)"
        + " (\(found.promise)), \(kind) \(seed)\(found.text)")
    return found.promise == mutant.promise
  }
  print("mutant \(mutant): not caught in \(options.count) \(kind)s")
  return false
}

/// Prints a message to standard error.
func complain(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = write(2, line, line.count)
}
