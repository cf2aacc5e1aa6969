import ArgumentParser
import Foundation
import NIOCore
import RelayWire

/// Measures goal S9 (docs/performance.md): 100,000 changes of one user with 3 devices, to 100
/// records in 5 zones within 1.5 s. The bench also measures how long the daemon takes to accept a
/// single event: when it is idle, while 200 readers poll, and during another burst beside the
/// readers.
struct BurstBench: Measurement {
  static let configuration = CommandConfiguration(
    commandName: "burst",
    abstract: "S9: a burst of changes for one user; ingest latency while 200 readers poll.")

  let bench: Workbench
  private var shape: BurstShape { BurstShape(batchesEach: bench.options.amount(20)) }

  /// The result of one round, on a fresh daemon.
  struct Result {
    var pushes = 0
    /// Rows that the daemon wrote into feeds; nil if the daemon does not count them.
    var rows: Double?
    var seconds = 0.0
    var cpu = 0.0
    var idle = Latencies()
    var read = Latencies()
    var burst = Latencies()
    var pages = Latencies()
  }

  func run() async throws -> [Figure] {
    var results: [Result] = []
    for round in 1...bench.options.pairCount {
      let result = try await measure()
      results.append(result)
      Talk.line(
        "S9 \(round): \(shape.changes) changes in \(String(format: "%.2f", result.seconds)) s, "
          + "\(result.pushes) pushes")
    }
    if results.contains(where: { $0.rows == nil }) {
      Talk.line("S9: this daemon exports no \(Self.rowsMetric); feed rows are not shown")
    }
    return figures(results)
  }

  static let rowsMetric = "zonerelay_feed_rows_written_total"

  private func measure() async throws -> Result {
    let standin = try await Standin.start(bench)
    let daemon = try await MeasuredDaemon.start(bench, apns: standin.route)
    let scene = BurstScene(daemon: daemon, shape: shape)
    var result = Result()
    try await scene.prepare()
    result.idle = try await scene.observe(readers: 0, burst: nil).probes
    try await push(into: &result, scene, daemon, standin)
    let read = try await scene.observe(readers: BurstShape.readers, burst: nil)
    (result.read, result.pages) = (read.probes, read.pages)
    result.burst = try await scene.observe(readers: BurstShape.readers, burst: "second").probes
    guard try await daemon.status().ledger.balanced else {
      throw BenchError("the ledger does not balance after the burst")
    }
    try await daemon.stop()
    _ = try await standin.child.stop()
    return result
  }

  /// Posts the burst alone, and counts its pushes and rows.
  private func push(
    into result: inout Result, _ scene: BurstScene, _ daemon: MeasuredDaemon, _ standin: Standin
  ) async throws {
    let (rows, cpu) = (try await daemon.metric(Self.rowsMetric), try daemon.child.cpu())
    result.seconds = try await scene.post("first")
    result.pushes = try await standin.settledPushes()
    result.cpu = (try daemon.child.cpu() - cpu).each(of: shape.changes)
    if let rows, let after = try await daemon.metric(Self.rowsMetric) { result.rows = after - rows }
    guard result.pushes >= BurstShape.devices else {
      throw BenchError(
        "\(result.pushes) pushes for \(BurstShape.devices) devices: one was not woken")
    }
  }

  private func figures(_ results: [Result]) -> [Figure] {
    func milliseconds(_ name: String, _ latencies: (Result) -> Latencies) -> [Figure] {
      Figure.percentiles("S9", name, results.map(latencies))
    }
    let rows = results.compactMap(\.rows)
    return [
      Figure(
        "S9", "pushes for \(shape.changes) changes", unit: "",
        ours: results.map { Double($0.pushes) }, floor: 9, aim: 3)
    ]
      + (rows.isEmpty
        ? [] : [Figure("S9", "feed rows written", unit: "", ours: rows, floor: 4_000, aim: 1_500)])
      + [
        Figure("S9", "burst posted in", unit: "s", ours: results.map(\.seconds)),
        Figure("S9", "daemon CPU a change", unit: "µs", ours: results.map(\.cpu)),
      ] + milliseconds("event to 202, idle", \.idle)
      + milliseconds("event to 202, \(BurstShape.readers) readers", \.read)
      + milliseconds("event to 202, readers and burst", \.burst)
      + milliseconds("page of changes/zone", \.pages)
  }
}

/// The size of a burst.
struct BurstShape: Sendable {
  /// How many requests of 1,000 changes are sent for each zone.
  var batchesEach: Int
  static let zones = 5
  static let recordsEach = 20
  static let batch = 1_000
  static let devices = 3
  static let readers = 200
  /// The number of connections that post single events. Each sends a request every `probePace`,
  /// together 400 requests a second. With so many connections a late answer does not delay the
  /// other requests.
  static let probes = 100
  static let probePace = TimeAmount.milliseconds(250)
  /// The time from a zone's first request, which is sent at once, to its last request.
  static let length = TimeAmount.milliseconds(1_400)

  var changes: Int { Self.zones * batchesEach * Self.batch }
}
