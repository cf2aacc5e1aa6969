import ArgumentParser
import Foundation

/// Measures goals S6 and S10 (docs/performance.md): the whole path from an event to its push. Each
/// user has one phone. S6 is the daemon's CPU time for this path: parse, match, log durably, fold,
/// push. S10 is the time that an idle daemon takes from its answer to the push.
struct PathBench: Measurement {
  static let configuration = CommandConfiguration(
    commandName: "path", abstract: "S6, S10: from an event to the push that it leads to.")

  let bench: Workbench
  /// The number of users whose events the bench posts in batches, and also the number of users
  /// whose events it posts alone.
  private var users: Int { bench.options.amount(5_000) }
  private var idle: Int { bench.options.amount(300) }
  private static let batch = 100
  /// The number of users whose pushes are sent before the measurement.
  private static let warm = 200
  /// The published CPU time of sygnal, in µs a push, on a machine of this kind. sygnal is a gateway
  /// that stores nothing.
  private static let sygnal = 729.0...729.0

  private struct Result {
    var batched: Double
    var alone: Double
    var wake: Latencies
  }

  func run() async throws -> [Figure] {
    var results: [Result] = []
    for round in 1...bench.options.pairCount {
      let (batched, alone) = try await cost()
      let result = Result(batched: batched, alone: alone, wake: try await latency())
      results.append(result)
      Talk.line(
        "S6 \(round): \(Int(result.batched)) µs an event in batches, \(Int(result.alone)) alone; "
          + String(format: "S10: %.1f ms", result.wake.percentile(0.5)))
    }
    return figures(results)
  }

  /// The CPU time of one event in microseconds, posted in batches and alone.
  private func cost() async throws -> (batched: Double, alone: Double) {
    let scene = try await PathScene.start(bench, users: users * 2 + Self.warm)
    // The first pushes of a daemon are sent before the measurement. They cost more, because the
    // daemon's connections and code paths are new.
    _ = try await scene.cost(of: users * 2..<users * 2 + Self.warm, eventsEach: Self.batch)
    let batched = try await scene.cost(of: 0..<users, eventsEach: Self.batch)
    let alone = try await scene.cost(of: users..<users * 2, eventsEach: 1)
    try await scene.end()
    return (batched.each(of: users), alone.each(of: users))
  }

  /// The time from the answer to an event until its push, one event after another, without a
  /// window.
  private func latency() async throws -> Latencies {
    let scene = try await PathScene.start(
      bench, users: idle, settings: "coalescing: { window: 0s, windowMax: 0s }")
    let latencies = try await scene.latencies(of: 0..<idle)
    try await scene.end()
    return latencies
  }

  private func figures(_ results: [Result]) -> [Figure] {
    func cost(_ name: String, _ value: (Result) -> Double) -> Figure {
      Figure(
        "S6", "CPU an event to its push, \(name)", unit: "µs", ours: results.map(value),
        published: "sygnal", Self.sygnal, floor: 1.0 / 8, aim: 1.0 / 20)
    }
    func wake(_ name: String, _ share: Double, floor: Double, aim: Double) -> Figure {
      Figure(
        "S10", "202 to push, idle, \(name)", unit: "ms",
        ours: results.map { $0.wake.percentile(share) }, floor: floor, aim: aim)
    }
    return [
      cost("in batches of \(Self.batch)", \.batched), cost("alone", \.alone),
      wake("p50", 0.5, floor: 5, aim: 2), wake("p99", 0.99, floor: 20, aim: 8),
    ]
  }
}
