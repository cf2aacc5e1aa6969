import Foundation
import Logging
@testable import RelayCore
import RelayEngine
@testable import RelayTrace
import Synchronization

/// Sample entries, and the values of which they are made.
enum Sample {
  static let scope = Scope(container: "iCloud.com.example.notes", environment: .development)
  static let owner = UserID("_abc")
  static let zone = ZoneID(name: "ReadingList", owner: owner)
  static let start = Instant(milliseconds: 1_700_000_000_000)
  static let user = Users.Key(scope: scope, user: owner)
  static let device = DeviceKey(
    scope: scope, user: owner, client: ClientID(Identifier(high: 7, low: 9)))

  static func nid(_ number: UInt64) -> Identifier { Identifier(high: 1, low: number) }

  static func entry(_ number: UInt64, _ event: TraceEvent? = nil) -> TraceEntry {
    let at = start + Span(milliseconds: Int64(number))
    return TraceEntry(at: at, event ?? .change(change(number, .created)))
  }

  static func change(_ number: UInt64, _ verb: RecordChange.Verb) -> TracedChange {
    change(number, .record(RecordChange(verb: verb, name: "r\(number)", type: "Article")))
  }

  static func change(_ number: UInt64, _ event: Change.Event) -> TracedChange {
    TracedChange(
      notification: nid(number), scope: scope, database: .private, zone: zone, event: event,
      author: Change.Author(user: owner, client: device.client),
      place: FactPlace(partition: PartitionID(3), ordinal: Ordinal(number + 1)),
      isSuperseded: number.isMultiple(of: 2), isReplayed: number.isMultiple(of: 3))
  }

  /// An event of every kind.
  static var events: [TraceEvent] {
    changes + devices + users + [
      .began, .lost(nil), .lost(3),
      .route(route, .stopped("InvalidProviderToken")), .route(route, .resumed),
      .route(route, .withdrawn), .route(route, .renewed),
      .route(route, .quarantine(until: start)), .route(route, .quarantine(until: nil)),
    ]
  }

  static let route = RouteKey(scope: scope, transport: .apns, topic: "com.example.notes")
  static let other = ZoneID(name: "History", owner: UserID("_x"))

  static func move(_ number: UInt64, _ step: TracedMove.Step) -> TraceEvent {
    let place = FactPlace(partition: PartitionID(5), ordinal: Ordinal(9))
    return .moved(TracedMove(notification: nid(number), scope: scope, place: place, step: step))
  }

  private static var changes: [TraceEvent] {
    let steps: [TracedMove.Step] = [
      .forwarded([PartitionID(1), PartitionID(63)]), .reached, .spreading, .spread,
    ]
    let verbs: [RecordChange.Verb] = [.created, .updated, .deleted]
    let events: [Change.Event] = [
      .zone(.created), .zone(.deleted), .zone(.purged),
      .zone(.reset), .granted(owner), .revoked(owner),
    ]
    let match = TracedMatch(
      notification: nid(4), user: user, subscription: SubscriptionID("reading"),
      database: .shared, zone: other, position: Position(bits: 77), zonePosition: .zero,
      devices: outcomes.map { TracedMatch.Device(client: device.client, outcome: $0) })
    return (verbs.map { .record(RecordChange(verb: $0, name: "A", type: "T")) } + events)
      .map { .change(change(1, $0)) }
      + steps.map { move(2, $0) } + [.matched(match)]
  }

  private static func alert(_ number: UInt64) -> TracedAlert {
    TracedAlert(notification: nid(number), subscription: SubscriptionID("s\(number)"))
  }

  private static var outcomes: [TracedMatch.Outcome] {
    [
      .own, .retired, .pends(.query, gathers: start),
      .pends(.many, gathers: nil, instead: .init(replaced: alert(4))),
      .pends(.alert(alert(9)), gathers: nil, instead: .init(crowdedOut: alert(5))),
      .pends(
        .alert(alert(9)), gathers: nil,
        instead: .init(replaced: alert(8), crowdedOut: alert(5), left: .zone(zone, .private))),
      .pends(.zone(zone, .private), gathers: nil),
    ]
  }

  private static var devices: [TraceEvent] {
    let wake = TracedWake(
      number: 17, transport: .apns, topic: "com.example.notes", runsApp: true,
      shows: nid(4), alertOf: SubscriptionID("reading"), names: [.zone(zone, .private), .query],
      tries: 2, cause: .ladder)
    let verdicts: [Verdict] = [
      .delivered, .deliveredElsewhere, .later(after: .seconds(3), .pace, reason),
      .later(after: nil, .quarantine, reason), .gone(at: start, reason), .gone(at: nil, reason),
      .rejected(reason), .tooLarge(reason),
    ]
    let receipts: [TracedReceipt] = [
      .acknowledged(.notifications(Position(bits: 8), .token)),
      .acknowledged(.zone(other, .shared, Position(bits: 9), .page)),
      .acknowledged(.listed([zone, other], .private)), .acknowledged(.wake(4)),
      .connected(after: 5), .marked([nid(1), nid(2)]),
    ]
    let events: [DeviceEvent] =
      [
        .registered(.fcm, topic: "project", Ordinal(4), isNew: true), .unregistered(Ordinal(5)),
        .retired("Unregistered"), .waits(.slot, until: start), .waitsForConnection, .wake(wake),
        .withdrawn(.zone(zone, .private)),
        .withdrawn(.subscription(SubscriptionID("s"), .public)), .hushed(alert(3), .many),
      ]
      + verdicts.map { .ended(TracedVerdict(wake: 4, verdict: $0, rests: start, dropsAlert: true)) }
      + receipts.map { .receipt($0) }
    return events.map { .device(device, $0) }
  }

  private static let reason = Verdict.Reason("TooManyRequests")

  private static var users: [TraceEvent] {
    let rules: [SubscriptionOutline.Rule] = [
      .query(recordType: "Article", zone: zone, .create, hasFilters: true),
      .query(recordType: "Article", zone: nil, .all, hasFilters: false),
      .zone(other, recordType: "T"), .zone(other, recordType: nil), .database(recordType: nil),
    ]
    let outlines = rules.map {
      SubscriptionOutline(id: SubscriptionID("s"), database: .private, since: Ordinal(3), rule: $0)
    }
    return outlines.map { .user(user, .subscribed($0, before: nil, Ordinal(4))) }
      + [
        .user(user, .subscribed(outlines[0], before: outlines[1], Ordinal(4))),
        .user(user, .unsubscribed(outlines[2], Ordinal(5))),
        .user(user, .joined(other, Ordinal(6))),
        .user(user, .left(other, Ordinal(7))),
      ]
  }
}

extension FlightRecorder {
  func record(_ entries: [TraceEntry]) { record(TraceBatch.of(entries)) }

  /// Everything that the recorder gives.
  func all(through place: UInt64? = nil) async throws -> [TraceEntry] {
    let box = EntryBox()
    try await read(through: place ?? self.place) { part in
      box.add(part)
      return true
    }
    return box.all
  }
}

/// Collects the entries that a recorder gives on the recorder's own thread.
final class EntryBox: Sendable {
  private let entries = Mutex<[TraceEntry]>([])
  func add(_ part: [TraceEntry]) { entries.withLock { $0 += part } }
  var all: [TraceEntry] { entries.withLock { $0 } }
}

/// A clock that tests set.
final class HandClock: ClockReader, Sendable {
  private let now = Mutex(Sample.start)
  func wall() -> Instant { now.withLock { $0 } }
  func boot() -> Instant { now.withLock { $0 } }
  func advance(_ span: Span) { now.withLock { $0 = $0 + span } }
}

/// A directory for one test; `deinit` removes it.
final class Folder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "zonerelay-trace-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    // A directory that is left in the temporary files harms nothing.
    try? FileManager.default.removeItem(atPath: path)
  }

  var file: String { "\(path)/\(FileRecorder.fileName)" }

  /// Puts a directory in the file's place, so that the file cannot be opened.
  func blockFile() throws {
    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
  }

  private let lives = Mutex<UInt64>(0)

  /// The number of the next life whose recorder has this folder.
  func nextLife() -> UInt64 {
    lives.withLock { lives in
      lives += 1
      return lives
    }
  }
}

extension FileRecorder {
  /// How long the recorders of these tests wait before they try a file again.
  static let testRetryAfter = Span(milliseconds: 20)

  /// A recorder whose next life has begun.
  static func begin(
    _ folder: Folder, bytes: Int = 1 << 20, clock: HandClock = HandClock()
  ) -> FileRecorder {
    let recorder = FileRecorder(
      directory: folder.path, bytes: bytes, clock: clock, logger: Logger(label: "trace"),
      retryAfter: testRetryAfter)
    recorder.begin(life: folder.nextLife())
    return recorder
  }

  /// Records all entries before the recorder writes any of them.
  func recordAtOnce(_ entries: [TraceEntry]) {
    queue.suspend()
    record(entries)
    queue.resume()
  }
}
