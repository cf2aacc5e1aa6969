import ArgumentParser
import Foundation

/// Measures goals S1, S2 and S3 (docs/performance.md): pushes that zonerelay's sender makes and
/// sends, beside h2load, against the same nghttpd. The run fails unless every push gets a verdict
/// and every verdict is `delivered`.
struct PushBench: Measurement {
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "S1, S2, S3: pushes through the engine, beside h2load.")

  let bench: Workbench
  private var count: Int { bench.options.amount(100_000) }
  /// The published CPU time of Go apns2, gorush's engine, in µs a push, on a machine of this kind.
  private static let apns2 = 60.0...70.0

  /// The result of zonerelay's sender or of h2load.
  struct Result {
    var rate: Double
    var client: Double
    var sink: Double
  }

  func run() async throws -> [Figure] {
    let sink = try await Sink.start(bench)
    let load = try H2Load(bench, sink: sink)
    let engine = try EngineLoad(bench, sink: sink)
    var ours: [Result] = []
    var reference: [Result] = []
    for pair in 1...bench.options.pairCount {
      let result = try await inTurn(isOursFirst: !pair.isMultiple(of: 2)) {
        try await engine.run(count)
      } reference: {
        try await load.run(count)
      }
      ours.append(result.ours)
      reference.append(result.reference)
      Talk.line(
        "push \(pair): \(Int(result.ours.rate))/s, h2load \(Int(result.reference.rate))/s, "
          + "all \(count) delivered")
    }
    _ = try await sink.child.stop()
    return figures(ours, reference)
  }

  private func figures(_ ours: [Result], _ reference: [Result]) -> [Figure] {
    [
      Figure(
        "S1", "pushes a second", unit: "/s", ours: ours.map(\.rate), reference: "h2load",
        reference.map(\.rate), floor: 0.5, aim: 0.8),
      Figure(
        "S2", "client CPU a push", unit: "µs", ours: ours.map(\.client), published: "Go apns2",
        Self.apns2, floor: 1.0 / 6, aim: 1.0 / 12),
      Figure(
        "S2", "client CPU a push", unit: "µs", ours: ours.map(\.client), reference: "h2load",
        reference.map(\.client)),
      Figure(
        "S3", "sink CPU a push", unit: "µs", ours: ours.map(\.sink), reference: "h2load",
        reference.map(\.sink), floor: 2, aim: 1.3),
    ]
  }
}
