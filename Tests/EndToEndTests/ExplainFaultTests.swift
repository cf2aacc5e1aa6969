import Foundation
import RelayWire
import Testing

/// Explanations of the real binary after kills, and without its trace file.
@Suite(.serialized) struct ExplainFaultTests {
  /// The phone is registered and subscribed, fetches nothing, and made no change, so only these
  /// outcomes can be true.
  private static let possible: Set<String> = [
    "woken", "unknown", "gathering", "not_folded", "budget", "queued", "under_way", "resting",
  ]

  /// Entries that wait in the daemon's memory are lost at a kill. The relay does not know what
  /// these entries would have told, and guesses no reason in their place.
  @Test func `after kills at any moment no explanation is wrong`() async throws {
    var scene = try await ExplainScene.start(
      extra: "budget: { background: { max: 1000, per: 1m, adapt: false } }")
    defer { scene.workplace.remove() }
    try await scene.phone.subscribe(toZone: "Crash")
    var answered: [String] = []
    for round in 1...3 {
      let load = Load(
        producer: scene.producer, user: "_abc", again: [],
        until: .now + .milliseconds(Int.random(in: 20...300)))
      let daemon = scene.daemon
      let outcome = try await load.run { await daemon.kill() }
      scene.producer = outcome.producer
      answered += outcome.answered
      scene.daemon = try await RunningDaemon.start(in: scene.workplace)
      let outcomes = try await outcomesOfLast(100, scene)
      let wrong = outcomes.subtracting(Self.possible)
      #expect(wrong.isEmpty, "round \(round): \(wrong)")
      for record in answered.suffix(5) {
        let (report, _) = try await scene.explain([
          "--zone", "_abc/Crash", "--record", record, "--device", scene.phone.client,
        ])
        #expect(report?.gaps == round)
        for change in report?.changes ?? [] {
          let told = change.devices.map { $0.result.reason?.code ?? $0.result.outcome }
          #expect(Self.possible.isSuperset(of: told), "round \(round), \(record): \(told)")
        }
      }
    }
    #expect(try await scene.daemon.metric("zonerelay_trace_entries_lost_total") == 0)
    await scene.end()
  }

  private func outcomesOfLast(_ count: Int, _ scene: ExplainScene) async throws -> Set<String> {
    let (report, status) = try await scene.explain([
      "--device", scene.phone.client, "--last", "\(count)",
    ])
    #expect(status == 0)
    let results = (report?.changes ?? []).flatMap { $0.devices.map(\.result) }
    return Set(results.map { $0.reason?.code ?? $0.outcome })
  }

  @Test func `the trace file is made again while the daemon runs`() async throws {
    var scene = try await ExplainScene.start()
    defer { scene.workplace.remove() }
    try await scene.phone.subscribe(toZone: "Zone")
    let first = try await scene.change("R1")
    #expect(try await Pause.until { try await scene.result(of: first)?.outcome == "woken" })
    try FileManager.default.removeItem(at: scene.workplace.file("store/trace.ring"))
    #expect(try await scene.explain(["--change", "/records/api-1", first]).status == 1)
    let second = try await scene.change("R2")
    #expect(try await Pause.until { try await scene.result(of: second)?.outcome == "woken" })
    #expect(try await scene.daemon.status()["healthy"].bool == true)
    let ended = await scene.daemon.stop()
    #expect(ended.errors.components(separatedBy: "trace file was removed").count == 2)
  }
}
