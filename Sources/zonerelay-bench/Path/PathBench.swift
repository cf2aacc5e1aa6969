import Foundation
import NIOCore
import RelayWire

/// Measures goals S6 and S10 (docs/performance.md): the whole path from an event to its push. Each
/// user has one phone. S6 is the daemon's CPU time for this path: parse, match, log durably, fold,
/// push. S10 is the time that an idle daemon takes from its answer to the push.
struct PathBench {
  private let bench: Workbench
  /// The number of users for each way of posting.
  private let users: Int
  private let idle: Int
  private static let batch = 100
  private static let connections = 50
  /// The number of users whose pushes are sent before the measurement.
  private static let warm = 200
  /// The published CPU time of sygnal, in µs a push, on a machine of this kind. sygnal is a gateway
  /// that stores nothing.
  private static let sygnal = 729.0...729.0

  init(_ bench: Workbench) {
    self.bench = bench
    users = bench.options.amount(5_000)
    idle = bench.options.amount(300)
  }

  private struct Result {
    var batched = 0.0
    var alone = 0.0
    var wake = Latencies()
  }

  func run() async throws -> [Figure] {
    var results: [Result] = []
    for round in 1...bench.options.pairCount {
      var result = Result()
      (result.batched, result.alone) = try await cost()
      result.wake = try await latency()
      results.append(result)
      Talk.line(
        "S6 \(round): \(Int(result.batched)) µs an event in batches, \(Int(result.alone)) alone; "
          + String(format: "S10: %.1f ms", result.wake.percentile(0.5)))
    }
    return figures(results)
  }

  /// Runs `body` on a daemon whose users have a phone each, after their setup has been folded.
  private func scene<Value>(
    _ users: Int, settings: String = "",
    _ body: (MeasuredDaemon, PushTail) async throws -> Value
  ) async throws -> Value {
    let standin = try await Standin.start(bench)
    let daemon = try await MeasuredDaemon.start(bench, apns: standin.route, settings: settings)
    try await Enrolment.run(0..<users, on: daemon, bench) { user, token in
      [
        Enrolment.device(user, token: token),
        Enrolment.subscription(to: "private", token: token),
      ]
    }
    try await daemon.settle()
    let value = try await body(daemon, try PushTail(standin.pushes))
    guard try await daemon.status().ledger.balanced else {
      throw BenchError("the ledger does not balance after the pushes")
    }
    try await daemon.stop()
    let pushes = standin.count
    guard pushes == users else { throw BenchError("\(pushes) pushes for \(users) changes") }
    _ = try await standin.child.stop()
    return value
  }

  /// The CPU time of one event in microseconds, posted in batches and alone.
  private func cost() async throws -> (batched: Double, alone: Double) {
    try await scene(users * 2 + Self.warm) { daemon, tail in
      // The first pushes of a daemon are sent before the measurement. They cost more, because the
      // daemon's connections and code paths are new.
      _ = try await cost(
        of: users * 2..<users * 2 + Self.warm, eventsEach: Self.batch, daemon, tail)
      let batched = try await cost(of: 0..<users, eventsEach: Self.batch, daemon, tail)
      let alone = try await cost(of: users..<users * 2, eventsEach: 1, daemon, tail)
      return (batched, alone)
    }
  }

  private func cost(
    of users: Range<Int>, eventsEach: Int, _ daemon: MeasuredDaemon, _ tail: PushTail
  ) async throws -> Double {
    var writer = EventWriter(run: "path-\(eventsEach)")
    let requests = stride(from: users.lowerBound, to: users.upperBound, by: eventsEach).map {
      first in
      let subjects = (first..<min(first + eventsEach, users.upperBound)).map(Self.subject)
      return eventsEach == 1 ? writer.single(subjects[0]) : writer.batch(subjects)
    }
    let outbox = Outbox(requests, eventsEach: eventsEach)
    let callers = (0..<min(Self.connections, requests.count)).map { _ in Producer(outbox) }
    let exchange = try await LoadExchange(callers, to: .port(daemon.port), group: bench.group)
    let before = try daemon.child.cpu()
    async let pushes = tail.next(users.count, within: .seconds(60))
    try await exchange.run(within: .seconds(60))
    _ = try await pushes
    try await daemon.settle()
    return (try daemon.child.cpu() - before).each(of: users.count)
  }

  /// The time from the answer to an event until its push, one event after another, without a
  /// window.
  private func latency() async throws -> Latencies {
    try await scene(idle, settings: "coalescing: { window: 0s, windowMax: 0s }") { daemon, tail in
      var writer = EventWriter(run: "idle")
      let caller = SingleEvents((0..<idle).map { writer.single(Self.subject($0)) })
      let exchange = try await LoadExchange([caller], to: .port(daemon.port), group: bench.group)
      async let pushes = tail.next(idle, within: .seconds(60))
      try await exchange.run(within: .seconds(60))
      var latencies = Latencies()
      for (accepted, pushed) in zip(caller.accepted, try await pushes) {
        // A push may be sent before the producer has read its answer.
        latencies.add(nanoseconds: max(0, (pushed - accepted).nanoseconds))
      }
      return latencies
    }
  }

  private static func subject(_ user: Int) -> EventWriter.Subject {
    EventWriter.Subject(user: Enrolment.name(user), zone: "Notes", record: "record-1")
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
