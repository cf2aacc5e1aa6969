import ArgumentParser
import Foundation

/// Measures goals S4 and S5 (docs/performance.md): how many changes a second become durable and are
/// answered, over 50 keep-alive connections, with one event or a hundred in each request.
struct IngestBench: Measurement {
  static let configuration = CommandConfiguration(
    commandName: "ingest",
    abstract: "S4, S5: changes into the daemon, beside redis and NATS JetStream.")

  let bench: Workbench
  static let connections = 50

  /// The result of zonerelay or of the reference.
  struct Result {
    var rate: Double
    var server: Double
    var client: Double
    var latencies: Latencies?
  }

  func run() async throws -> [Figure] {
    let (daemon, redis) = (DaemonLoad(bench: bench), try RedisLoad(bench))
    let singles = bench.options.amount(50_000)
    let single = try await pairs(
      "S4", ours: { try await daemon.run(singles, eventsEach: 1) },
      reference: { try await redis.run(singles) })
    let batches = bench.options.amount(200_000)
    let nats = NATSLoad(bench)
    if nats == nil { Talk.line("S5 without its reference: \(NATSLoad.missing)") }
    let batch = try await pairs(
      "S5", ours: { try await daemon.run(batches, eventsEach: 100) },
      reference: { try await nats?.run(batches) })
    return singleFigures(single) + batchFigures(batch)
  }

  private struct Pairs {
    var ours: [Result] = []
    var reference: [Result] = []
  }

  private func pairs(
    _ name: String, ours: () async throws -> Result, reference: () async throws -> Result?
  ) async throws -> Pairs {
    var pairs = Pairs()
    for pair in 1...bench.options.pairCount {
      let result = try await inTurn(
        isOursFirst: !pair.isMultiple(of: 2), ours, reference: reference)
      pairs.ours.append(result.ours)
      if let compared = result.reference { pairs.reference.append(compared) }
      let compared = result.reference.map { ", reference \(Int($0.rate))/s" } ?? ""
      Talk.line("\(name) \(pair): \(Int(result.ours.rate))/s\(compared)")
    }
    return pairs
  }

  private func compared(
    _ goal: String, _ name: String, _ pairs: Pairs, to reference: String, floor: Double,
    aim: Double
  ) -> [Figure] {
    [
      Figure(
        goal, name, unit: "/s", ours: pairs.ours.map(\.rate), reference: reference,
        pairs.reference.map(\.rate), floor: floor, aim: aim),
      Figure(
        goal, "server CPU an event", unit: "µs", ours: pairs.ours.map(\.server),
        reference: reference, pairs.reference.map(\.server)),
    ]
  }

  private func singleFigures(_ pairs: Pairs) -> [Figure] {
    compared(
      "S4", "events a second, 1 a request", pairs, to: "redis always", floor: 0.4, aim: 0.7)
      + [Figure("S4", "load generator's CPU", unit: "µs", ours: pairs.ours.map(\.client))]
      + latencies("S4", pairs.ours)
  }

  private func batchFigures(_ pairs: Pairs) -> [Figure] {
    let rate = "events a second, 100 a request"
    if !pairs.reference.isEmpty {
      return compared("S5", rate, pairs, to: NATSLoad.name, floor: 0.5, aim: 1)
        + latencies("S5", pairs.ours)
    }
    return [
      Figure(
        "S5", rate, unit: "/s", ours: pairs.ours.map(\.rate), published: NATSLoad.name,
        NATSLoad.publishedRate...NATSLoad.publishedRate, floor: 0.5, aim: 1),
      Figure("S5", "server CPU an event", unit: "µs", ours: pairs.ours.map(\.server)),
    ] + latencies("S5", pairs.ours)
  }

  private func latencies(_ goal: String, _ results: [Result]) -> [Figure] {
    Figure.percentiles(goal, "request to 202", results.compactMap(\.latencies))
  }
}
