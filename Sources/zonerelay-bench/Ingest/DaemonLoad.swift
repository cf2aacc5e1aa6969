import NIOCore

/// zonerelay's side of the ingest figures: a fresh daemon, and requests written before the
/// measurement.
struct DaemonLoad {
  let bench: Workbench
  private static let users = 1_000
  private static let recordsEach = 20

  /// Posts `count` events over 50 connections. Throws unless the daemon accepts each event.
  func run(_ count: Int, eventsEach: Int) async throws -> IngestBench.Result {
    let daemon = try await MeasuredDaemon.start(bench)
    // The first requests of a daemon are posted before the measurement. They cost more, because the
    // daemon's memory pages, code paths and connections are new.
    let warm = Self.outbox(count / 20, eventsEach, run: "warm")
    try await daemon.serve(warm.producers(IngestBench.connections), within: .seconds(60))
    let outbox = Self.outbox(count, eventsEach, run: "run")
    let exchange = try await daemon.connect(outbox.producers(IngestBench.connections))
    let (server, client) = (try daemon.child.cpu(), try CPUTime.ofThisProcess())
    let start = ContinuousClock.now
    try await exchange.run(within: .seconds(120))
    let took = ContinuousClock.now - start
    let result = IngestBench.Result(
      rate: Double(count) / took.inSeconds,
      server: (try daemon.child.cpu() - server).each(of: count),
      client: (try CPUTime.ofThisProcess() - client).each(of: count), latencies: outbox.latencies)
    try await daemon.stop()
    return result
  }

  /// An outbox in which neighbouring events belong to different users.
  private static func outbox(_ count: Int, _ eventsEach: Int, run: String) -> Outbox {
    var writer = EventWriter(run: run)
    let subjects = (0..<count).map { number in
      EventWriter.Subject(
        user: "_user\(number % users)", zone: "ReadingList",
        record: "record-\(number / users % recordsEach)")
    }
    return Outbox(
      writer.requests(subjects, eventsEach: eventsEach), eventsEach: eventsEach)
  }
}
