import Foundation

/// The results of one phase.
struct AbusePhase {
  /// Answers to well-behaved users that take longer than this are counted in `slow`, by the kind of
  /// request.
  static let slowMilliseconds: Int64 = 500

  let name: String
  let answers: HostileAnswers
  /// Kinds of abuse that sent nothing.
  var silent: [String] = []
  var latencies = Latencies()
  /// Answers that well-behaved users must not get, and connections that these users lost.
  var refusals: [String] = []
  var slow: [String: Int] = [:]
  /// The highest resident memory of the daemon, in MiB.
  var memory = 0.0
  /// Seconds until the store stopped growing; nil if the store still grows.
  var settled: Double?
  var bytes: Int64 = 0
  var filesLeft = 0

  mutating func add(_ users: [GoodUser], _ connecting: ConnectingUser) {
    for user in users {
      for some in user.latencies.values { latencies.add(some) }
      refusals += user.refusals
      slow.merge(user.slow, uniquingKeysWith: +)
    }
    latencies.add(connecting.latencies)
    refusals += connecting.refusals
    if connecting.slow > 0 { slow["connecting", default: 0] += connecting.slow }
  }

  var summary: String {
    String(
      format:
        "%@: %d requests of good users, p50 %.1f, p99 %.1f, most %.1f ms, %@%d refused; "
        + "%.0f MiB; settled after %@ s; store %.1f MB; %d files more",
      name, latencies.count, latencies.percentile(0.5), latencies.percentile(0.99),
      latencies.percentile(1), slowest, refusals.count, memory,
      settled.map { String(format: "%.0f", $0) } ?? "more than 900", Double(bytes) / 1e6, filesLeft)
      + answers.lines.map { "\n    \($0)" }.joined()
  }

  private var slowest: String {
    guard !slow.isEmpty else { return "" }
    let parts = slow.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    return "above \(Self.slowMilliseconds) ms: \(parts.joined(separator: ", ")); "
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
