import Foundation
import NIOCore
import RelayWire

/// Measures a public change for a million subscribers: how soon the daemon answers the change, how
/// long the slices take, and how the slices delay other callers. The bench also checks that a kill
/// between slices loses no notification.
struct FanOutBench {
  let bench: Workbench
  let subscribers: Int
  private static let patience = Duration.seconds(900)

  struct Result {
    var start = 0.0
    var accepted = 0.0
    var done = 0.0
    var cpu = 0.0
    var others = Latencies()
    var pages = Latencies()
    var restart = 0.0
    var finished = 0.0
    var memoryAtStart = 0.0
    var memoryMost = 0.0
  }

  func run() async throws -> [Figure] {
    var results: [Result] = []
    for _ in 1...(bench.options.pairs ?? 1) { results.append(try await measure()) }
    return figures(results)
  }

  private func measure() async throws -> Result {
    var result = Result()
    let directory = try bench.emptyDirectory("fanout")
    let store = FanOutStore(directory: directory, subscribers: subscribers)
    Talk.line("fan-out: writing \(subscribers) subscriptions")
    try await store.seed()
    let daemon = try await start(on: directory, &result.start)
    result.memoryAtStart = try Memory.resident(of: daemon.child)
    try await quiet(into: &result, daemon)
    try await killed(into: &result, daemon, directory)
    let census = try await store.census(of: ["record-1", "record-2"])
    guard census.lost == 0, census.excess == 0 else {
      throw BenchError("\(census.lost) notifications are lost and \(census.excess) too many")
    }
    return result
  }

  private func start(on directory: URL, _ seconds: inout Double) async throws -> MeasuredDaemon {
    let begin = ContinuousClock.now
    let daemon = try await MeasuredDaemon.start(bench, store: directory, patience: Self.patience)
    seconds = (ContinuousClock.now - begin).inSeconds
    Talk.line("fan-out: ready after \(String(format: "%.1f", seconds)) s")
    return daemon
  }

  /// Measures one change for all subscribers, beside other callers' events, until all feeds have
  /// the change.
  private func quiet(into result: inout Result, _ daemon: MeasuredDaemon) async throws {
    let stop = StopFlag()
    let background = (0..<GoodUser.count).map {
      GoodUser($0, run: "quiet", readsNotifications: false) { _ in !stop.isSet }
    }
    let exchange = try await daemon.connect(background)
    let cpu = try daemon.child.cpu()
    let begin = ContinuousClock.now
    async let others: Void = exchange.run(within: .seconds(900))
    result.accepted = try await post("record-1", daemon)
    try await daemon.wait(within: Self.patience) { $0.fanouts.running == 0 }
    stop.set()
    try await others
    try await daemon.settle(within: Self.patience)
    result.done = (ContinuousClock.now - begin).inSeconds
    result.cpu = (try daemon.child.cpu() - cpu).each(of: subscribers)
    for user in background {
      if let refusal = user.refusals.first { throw BenchError("beside the fan-out: \(refusal)") }
      result.others.add(user.latencies[.event] ?? Latencies())
      result.pages.add(user.latencies[.page] ?? Latencies())
    }
    result.memoryMost = try Memory.most(of: daemon.child)
    Talk.line("fan-out: all told after \(String(format: "%.1f", result.done)) s")
  }

  /// Posts another change for all subscribers. The daemon is killed part-way, and the next daemon
  /// finishes the change.
  private func killed(
    into result: inout Result, _ daemon: MeasuredDaemon, _ directory: URL
  ) async throws {
    func rows() async throws -> Double { try await daemon.metric(BurstBench.rowsMetric) ?? 0 }
    let before = try await rows()
    _ = try await post("record-2", daemon)
    let third = Double(subscribers) / 3
    let deadline = ContinuousClock.now + Self.patience
    while try await rows() < before + third {
      guard .now < deadline else { throw BenchError("the second fan-out does not get on") }
      try await ContinuousClock().sleep(for: .milliseconds(20))
    }
    try await daemon.child.kill()
    let next = try await start(on: directory, &result.restart)
    let begin = ContinuousClock.now
    let running = try await next.status().fanouts.running
    try await next.settle(within: Self.patience)
    result.finished = (ContinuousClock.now - begin).inSeconds
    Talk.line("fan-out: \(running) partitions had more to tell after the kill")
    try await next.stop()
  }

  private func post(_ record: String, _ daemon: MeasuredDaemon) async throws -> Double {
    let event = """
      {"specversion":"1.0","id":"\(record)","source":"/records/wide",\
      "type":"zonerelay.record.created","time":"2026-11-21T03:00:00Z","data":{"database":"public",\
      "zoneID":{"zoneName":"_defaultZone","ownerRecordName":"_defaultOwner"},\
      "record":{"recordName":"\(record)","recordType":"Article","recordChangeTag":"1",\
      "fields":{"title":{"value":"An article for all","type":"STRING"}}}}}
      """
    let begin = ContinuousClock.now
    try await daemon.call(RequestText.events(event.utf8, isBatch: false)).expectAccepted(1)
    return (ContinuousClock.now - begin).inSeconds
  }

  private func figures(_ results: [Result]) -> [Figure] {
    func figure(
      _ name: String, _ unit: String, _ value: (Result) -> Double, goal: String = "fan-out",
      floor: Double? = nil, aim: Double? = nil
    ) -> Figure {
      Figure(goal, name, unit: unit, ours: results.map(value), floor: floor, aim: aim)
    }
    return [
      figure(
        "start with \(subscribers) subscribers", "s", \.start, goal: "S12", floor: 30, aim: 8),
      figure("resident memory then", "MiB", \.memoryAtStart, goal: "S12"),
      figure("a change for all, to 202", "s", \.accepted, floor: 1, aim: 0.1),
      figure("all feeds written", "s", \.done),
      figure("daemon CPU a subscriber", "µs", \.cpu),
      figure("resident memory at most", "MiB", \.memoryMost),
    ] + Figure.percentiles("fan-out", "others' events to 202", results.map(\.others))
      + Figure.percentiles("fan-out", "their pages after it", results.map(\.pages))
      + [
        figure("start after a kill in the middle", "s", \.restart),
        figure("the rest of it then", "s", \.finished),
        figure("notifications lost by the kill", "", { _ in 0 }, floor: 0, aim: 0),
      ]
  }
}
