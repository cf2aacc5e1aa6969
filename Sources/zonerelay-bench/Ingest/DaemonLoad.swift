import NIOCore

/// zonerelay's side of the ingest figures: a fresh daemon, and requests written before the
/// measurement.
struct DaemonLoad {
  private let bench: Workbench
  private static let users = 1_000
  private static let recordsEach = 20

  init(_ bench: Workbench) { self.bench = bench }

  /// Posts `count` events over 50 connections. Throws unless the daemon accepts each event.
  func run(_ count: Int, eventsEach: Int) async throws -> IngestBench.Result {
    let daemon = try await MeasuredDaemon.start(bench)
    // The first requests of a daemon are posted before the measurement. They cost more, because the
    // daemon's memory pages, code paths and connections are new.
    try await post(count / 20, eventsEach, run: "warm", daemon)
    let requests = Self.requests(count, eventsEach, run: "run")
    let outbox = Outbox(requests, eventsEach: eventsEach)
    let callers = (0..<IngestBench.connections).map { _ in Producer(outbox) }
    let exchange = try await LoadExchange(callers, to: .port(daemon.port), group: bench.group)
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

  private func post(_ count: Int, _ eventsEach: Int, run: String, _ daemon: MeasuredDaemon)
    async throws
  {
    let outbox = Outbox(Self.requests(count, eventsEach, run: run), eventsEach: eventsEach)
    let callers = (0..<IngestBench.connections).map { _ in Producer(outbox) }
    let exchange = try await LoadExchange(callers, to: .port(daemon.port), group: bench.group)
    try await exchange.run(within: .seconds(60))
  }

  /// The requests of an outbox, in which neighbouring events belong to different users.
  private static func requests(_ count: Int, _ eventsEach: Int, run: String) -> [ByteBuffer] {
    var writer = EventWriter(run: run)
    func subject(_ number: Int) -> EventWriter.Subject {
      EventWriter.Subject(
        user: "_user\(number % users)", zone: "ReadingList",
        record: "record-\(number / users % recordsEach)")
    }
    return stride(from: 0, to: count, by: eventsEach).map { first in
      eventsEach == 1
        ? writer.single(subject(first))
        : writer.batch((first..<first + eventsEach).map { subject($0) })
    }
  }
}
