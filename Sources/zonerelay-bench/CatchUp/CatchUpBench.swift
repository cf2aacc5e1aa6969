import ArgumentParser
import Foundation
import NIOCore

/// Measures goal S7 (docs/performance.md): what a client's catch-up costs the daemon. The bench
/// measures a warm page of 200 changes of a zone, beside a read of the same rows by SQLite alone,
/// and a poll that finds no change.
struct CatchUpBench: Measurement {
  static let configuration = CommandConfiguration(
    commandName: "catchup", abstract: "S7: a page of changes, beside SQLite alone; an empty poll.")

  let bench: Workbench
  /// One walk of a reader reads all pages of the zone: 50 pages.
  private var walks: Int { bench.options.amount(10) }
  private var polls: Int { bench.options.amount(5_000) }
  private static let records = 10_000
  private static let page = 200
  private static let readers = 4
  static let user = "_reader"

  private struct Result {
    var page: Double
    var raw: Double
    var poll: Double
  }

  private var pages: Int { Self.readers * walks * (Self.records / Self.page) }

  func run() async throws -> [Figure] {
    let store = try bench.emptyDirectory("catchup")
    let daemon = try await MeasuredDaemon.start(bench, store: store)
    try await seed(daemon)
    let reading = try RawPages(
      store.appendingPathComponent("relay.db").path, rows: Self.records, page: Self.page)
    // Before the measurement, the daemon and SQLite both read everything once.
    _ = try await read(daemon, walks: 1)
    _ = try reading.read(pages: Self.records / Self.page)
    var results: [Result] = []
    for round in 1...bench.options.pairCount {
      let ((page, tokens), raw) = try await inTurn(isOursFirst: !round.isMultiple(of: 2)) {
        try await read(daemon, walks: walks)
      } reference: {
        try reading.read(pages: pages)
      }
      let result = Result(page: page, raw: raw, poll: try await poll(daemon, tokens))
      results.append(result)
      Talk.line(
        "S7 \(round): \(Int(result.page)) µs a page, SQLite alone \(Int(result.raw)), "
          + "\(Int(result.poll)) µs a poll")
    }
    try await daemon.stop()
    return figures(results)
  }

  private func seed(_ daemon: MeasuredDaemon) async throws {
    var writer = EventWriter(run: "seed")
    for first in stride(from: 0, to: Self.records, by: 1_000) {
      let subjects = (first..<first + 1_000).map {
        EventWriter.Subject(user: Self.user, zone: PageReader.zone, record: "record-\($0)")
      }
      try await daemon.call(writer.batch(subjects)).expectAccepted(subjects.count)
    }
    try await daemon.settle()
  }

  /// Lets each reader read all pages of the zone from its start to its end, `walks` times.
  ///
  /// - Returns: the daemon's CPU time for each page, in microseconds, and each reader's last token.
  private func read(_ daemon: MeasuredDaemon, walks: Int) async throws -> (Double, [String]) {
    let readers = (0..<Self.readers).map { _ in
      PageReader(walks: walks, pages: Self.records / Self.page, limit: Self.page)
    }
    let cost = try await cost(daemon, readers)
    return (cost.each(of: Self.readers * walks * (Self.records / Self.page)), readers.map(\.token))
  }

  private func poll(_ daemon: MeasuredDaemon, _ tokens: [String]) async throws -> Double {
    let pollers = tokens.map { EmptyPoller($0, polls: polls, limit: Self.page) }
    return try await cost(daemon, pollers).each(of: polls * tokens.count)
  }

  private func cost(_ daemon: MeasuredDaemon, _ callers: [any LoadCaller]) async throws -> CPUTime {
    let exchange = try await daemon.connect(callers)
    let before = try daemon.child.cpu()
    try await exchange.run(within: .seconds(120))
    return try daemon.child.cpu() - before
  }

  private func figures(_ results: [Result]) -> [Figure] {
    [
      Figure(
        "S7", "CPU a page of \(Self.page) changes", unit: "µs", ours: results.map(\.page),
        reference: "SQLite alone", results.map(\.raw), floor: 3, aim: 1.5),
      Figure(
        "S7", "CPU a poll that finds nothing", unit: "µs", ours: results.map(\.poll), floor: 100,
        aim: 50),
    ]
  }
}
