import HTTPTypes
import Logging
import RelayCore
import RelayEngine
import RelayWire
import Synchronization
import Testing

@testable import RelayHTTP

/// Failed reads: devices get an error, and operators see the reason in `status`.
@Suite struct FailedReadTests {
  private static let reading = StoreError(.unreadable, "relay.db cannot be read")
  private static let damage = StoreError(.corrupt, "relay.db is damaged")

  @Test func `status is unhealthy from a failed read until the next successful read`() async throws
  {
    let rig = await Rig()
    rig.relay.behave { $0.readFailure = Self.reading }
    let refused = try await rig.database("changes/database")
    #expect(refused.status == 503 && refused.headers[.retryAfter] == "5")
    let reasons = try await Self.reasons(rig)
    #expect(reasons.count == 1 && reasons[0].contains("relay.db cannot be read"), "\(reasons)")
    let metrics = try await Rig.ask(rig.admin, "/metrics")
    #expect(metrics.contains("zonerelay_healthy 0"))
    #expect(metrics.contains("zonerelay_store_reads_failed_total 1"))
    rig.relay.behave { $0.readFailure = nil }
    #expect(try await rig.database("changes/database").status == 200)
    #expect(try await Self.reasons(rig).isEmpty)
    #expect(
      try await Rig.ask(rig.admin, "/metrics").contains("zonerelay_store_reads_failed_total 1"))
  }

  /// A successful read says nothing about the damaged page, because it may have read other pages.
  @Test func `status still reports damage after a successful read`() async throws {
    let rig = await Rig()
    rig.relay.behave { $0.readFailure = Self.damage }
    #expect(try await rig.database("changes/database").status == 500)
    rig.relay.behave { $0.readFailure = nil }
    #expect(try await rig.database("changes/database").status == 200)
    #expect(try await Self.reasons(rig).count == 1)
  }

  @Test func `an operator's failed read also makes status unhealthy`() async throws {
    let rig = await Rig()
    rig.relay.behave { $0.readFailure = Self.reading }
    #expect(try await rig.send(.get, "/devices", control: true).status == 503)
    #expect(try await Self.reasons(rig).count == 1)
  }

  @Test func `the log has one line per minute and error code, and damage expires`() {
    let (log, clock) = (Log(), MovedClock())
    let reads = StoreReads(clock: clock, logger: Logger(label: "test") { _ in log })
    for _ in 0..<3 { reads.failed(Self.reading) }
    reads.failed(Self.damage)
    #expect(log.lines == ["0 since the last line", "0 since the last line"])
    clock.pass(StoreReads.quiet)
    for _ in 0..<2 { reads.failed(Self.reading) }
    #expect(log.lines.dropFirst(2) == ["2 since the last line"])
    #expect(reads.failures == 6 && reads.reasons.count == 2)
    reads.worked()
    #expect(reads.reasons == ["reads of the store fail: relay.db is damaged"])
    clock.pass(StoreReads.told)
    #expect(reads.reasons.isEmpty)
  }

  private static func reasons(_ rig: Rig) async throws -> [String] {
    try await rig.send(.get, "/status", control: true).json.required("reasons").elements()
      .map { try $0.string() }
  }
}

private final class MovedClock: ClockReader {
  private let now = Mutex(Instant(milliseconds: 1_000))
  func pass(_ span: Span) { now.withLock { $0 = $0 + span } }
  func wall() -> Instant { now.withLock { $0 } }
  func boot() -> Instant { now.withLock { $0 } }
}

/// Records the field `more` of each line: how many failures were not logged since the line before.
private final class Log: LogHandler {
  private let said = Mutex<[String]>([])
  var lines: [String] { said.withLock { $0 } }

  func log(event: LogEvent) {
    said.withLock { $0.append(event.metadata?["more"]?.description ?? "") }
  }

  // `LogHandler` requires the properties below. The level never changes, and there is no metadata.
  var logLevel: Logger.Level {
    get { .warning }
    set {}
  }
  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }
}
