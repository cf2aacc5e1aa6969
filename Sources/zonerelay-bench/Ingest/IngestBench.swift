import ArgumentParser
import Foundation

/// Measures goals S4 and S5 (docs/performance.md): how many changes a second become durable and are
/// answered, over 50 keep-alive connections, with one event or a hundred in each request.
struct IngestBench: Measurement {
  static let configuration = CommandConfiguration(
    commandName: "ingest",
    abstract: "S4, S5: changes into the daemon, beside redis and NATS JetStream.")

  private let bench: Workbench
  static let connections = 50

  init(_ bench: Workbench) { self.bench = bench }

  /// The result of zonerelay or of the reference.
  struct Result {
    var rate: Double
    var server: Double
    var client: Double
    var latencies: Latencies?
  }

  func run() async throws -> [Figure] {
    let (daemon, redis) = (DaemonLoad(bench), try RedisLoad(bench))
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
      // The order alternates, so that neither zonerelay nor the reference always runs second.
      if pair.isMultiple(of: 2) {
        if let result = try await reference() { pairs.reference.append(result) }
        pairs.ours.append(try await ours())
      } else {
        pairs.ours.append(try await ours())
        if let result = try await reference() { pairs.reference.append(result) }
      }
      let compared = pairs.reference.last.map { ", reference \(Int($0.rate))/s" } ?? ""
      Talk.line("\(name) \(pair): \(Int(pairs.ours.last!.rate))/s\(compared)")
    }
    return pairs
  }

  private func singleFigures(_ pairs: Pairs) -> [Figure] {
    let redis = "redis always"
    return [
      Figure(
        "S4", "events a second, 1 a request", unit: "/s", ours: pairs.ours.map(\.rate),
        reference: redis, pairs.reference.map(\.rate), floor: 0.4, aim: 0.7),
      Figure(
        "S4", "server CPU an event", unit: "µs", ours: pairs.ours.map(\.server), reference: redis,
        pairs.reference.map(\.server)),
      Figure("S4", "load generator's CPU", unit: "µs", ours: pairs.ours.map(\.client)),
    ] + latencies("S4", pairs.ours)
  }

  private func batchFigures(_ pairs: Pairs) -> [Figure] {
    let (rates, servers) = (pairs.ours.map(\.rate), pairs.ours.map(\.server))
    let (rate, server) = ("events a second, 100 a request", "server CPU an event")
    let compared =
      pairs.reference.isEmpty
      ? [
        Figure(
          "S5", rate, unit: "/s", ours: rates, published: NATSLoad.name,
          NATSLoad.publishedRate...NATSLoad.publishedRate, floor: 0.5, aim: 1),
        Figure("S5", server, unit: "µs", ours: servers),
      ]
      : [
        Figure(
          "S5", rate, unit: "/s", ours: rates, reference: NATSLoad.name,
          pairs.reference.map(\.rate), floor: 0.5, aim: 1),
        Figure(
          "S5", server, unit: "µs", ours: servers, reference: NATSLoad.name,
          pairs.reference.map(\.server)),
      ]
    return compared + latencies("S5", pairs.ours)
  }

  private func latencies(_ goal: String, _ results: [Result]) -> [Figure] {
    let all = results.compactMap(\.latencies)
    return [
      Figure(goal, "request to 202, p50", unit: "ms", ours: all.map { $0.percentile(0.5) }),
      Figure(goal, "request to 202, p99", unit: "ms", ours: all.map { $0.percentile(0.99) }),
    ]
  }
}
