import Foundation

/// What one phase came to.
struct AbusePhase {
  let name: String
  let answers: HostileAnswers
  var latencies = Latencies()
  /// Answers to well-behaved users that are none of 2xx.
  var refusals: [String] = []
  /// MiB, at most.
  var memory = 0.0
  /// Seconds until nothing grew any more; nil: it still does.
  var settled: Double?
  var bytes: Int64 = 0
  var filesLeft = 0

  init(name: String, users: [GoodUser], answers: HostileAnswers) {
    self.name = name
    self.answers = answers
    for user in users {
      latencies.add(user.latencies)
      refusals += user.refusals
    }
  }

  var summary: String {
    let told = answers.all.sorted { $0.key < $1.key }.map { name, counts in
      let each = counts.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
      return "\n    \(name): \(each.joined(separator: ", "))"
    }
    return String(
      format:
        "%@: good users p50 %.1f, p99 %.1f, most %.1f ms, %d refused; %.0f MiB; store %.1f MB",
      name, latencies.percentile(0.5), latencies.percentile(0.99), latencies.percentile(1),
      refusals.count, memory, Double(bytes) / 1e6) + told.joined()
  }

  var figures: [Figure] {
    [
      Figure("abuse", "\(name): good users p50", unit: "ms", ours: [latencies.percentile(0.5)]),
      Figure("abuse", "\(name): good users p99", unit: "ms", ours: [latencies.percentile(0.99)]),
      Figure("abuse", "\(name): good users most", unit: "ms", ours: [latencies.percentile(1)]),
      Figure("abuse", "\(name): resident memory at most", unit: "MiB", ours: [memory]),
    ]
  }
}

/// How soon a killed daemon was ready again, in seconds.
struct AbuseRestarts {
  var quiet: [Double] = []
  var abused = 0.0

  /// The median of the quiet ones.
  var calm: Double { Spread(quiet).median }

  var summary: String {
    String(format: "ready after a kill: %.2f s under abuse, %.2f s quiet", abused, calm)
  }

  var figures: [Figure] {
    [
      Figure("abuse", "ready after a kill, quiet", unit: "s", ours: quiet),
      Figure("abuse", "ready after a kill under abuse", unit: "s", ours: [abused]),
    ]
  }
}
