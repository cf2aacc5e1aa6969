import Foundation
import GRDB
import RelayCore
import RelayEngine
import RelayStore
import Testing

/// The files of form 1, as they were written when that form became final, stay readable for ever.
///
/// `Form1` has both files of a store, with rows in every table and every kind of fact in the
/// journal. `contents.txt` lists the values that form 1 read from the files. A later form must read
/// the same values from the files; a field that the later form adds is one more line.
/// `ZONERELAY_KEEP_FORM=1` writes `contents.txt` anew, and the files too if they are missing.
@Suite struct KeptFormTests {
  private static let kept = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Form1")
  private static let files = ["journal.db", "relay.db"]
  private static let writes = ProcessInfo.processInfo.environment["ZONERELAY_KEEP_FORM"] != nil

  @Test func `a store of form 1 is read as it was written`() async throws {
    if Self.writes, !FileManager.default.fileExists(atPath: Self.kept.path) {
      try await Self.write()
    }
    let home = try SQLiteHome()
    for name in Self.files {
      try FileManager.default.copyItem(
        at: Self.kept.appendingPathComponent(name), to: URL(fileURLWithPath: home.path(name)))
    }
    let contents = try await Self.contents(of: home)
    let file = Self.kept.appendingPathComponent("contents.txt")
    if Self.writes { try Data(contents.joined(separator: "\n").utf8).write(to: file) }
    let known = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    for (line, read) in zip(known, contents) where line != read {
      Issue.record("the files mean something else now: \(read) instead of \(line)")
      break
    }
    #expect(known.count == contents.count)
  }

  /// Every table has a row, so that no encoding is forgotten.
  @Test(arguments: files)
  func `the kept files have rows in every table`(name: String) async throws {
    let home = try SQLiteHome()
    try FileManager.default.copyItem(
      at: Self.kept.appendingPathComponent(name), to: URL(fileURLWithPath: home.path(name)))
    let queue = try DatabaseQueue(path: home.path(name))
    let empty = try await queue.read { database in
      try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        .filter { try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0)") == 0 }
    }
    #expect(empty.isEmpty)
    try queue.close()
  }

  /// What a start reads, a line a value, in an order that does not depend on hashes.
  private static func contents(of home: SQLiteHome) async throws -> [String] {
    let bench = try await Bench(home, era: 1 << 40)
    var lines: [String] = []
    func add(_ name: String, _ value: Any) {
      var text = ""
      dump(value, to: &text)
      // Each process lists the members of a set in another order, so the lines are sorted.
      lines.append("# \(name)")
      lines += text.components(separatedBy: "\n").sorted()
    }
    var cursors: [PartitionID: Ordinal] = [:]
    for lease in bench.leases {
      let tables = try await bench.store.load(lease)
      cursors[lease.partition] = tables.cursor
      guard tables != PartitionTables(id: lease.partition) else { continue }
      add("partition \(lease.partition.number)", tables)
    }
    var place: JournalPlace?
    repeat {
      let part = try await bench.store.journal(after: place, beyond: cursors, limit: 1_000)
      for entry in part.entries { add("fact", entry) }
      place = part.next
    } while place != nil
    for feed in [bench.feed, bench.privates, bench.notifications] {
      add("feed", try await bench.read(feed))
    }
    add("feedback", try await bench.store.feedback(FeedbackQuery(after: .zero, limit: 100)))
    add(
      "taken",
      try await bench.store.feedbackTaken(in: Scope(container: "kept", environment: .production)))
    await bench.store.close()
    return lines
  }

  /// Makes the files with the code of today.
  private static func write() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    var draw = SeededRandom(seed: 1)
    try await bench.makeZone()
    for name in ["a", "b", "c"] { _ = try await bench.record(name, .created) }
    _ = try await bench.record("b", .deleted)
    for name in ["s", "t"] {
      try await bench.mutate(
        bench.notifications,
        .notification(SubscriptionID(name), zone: bench.zone(), record: "a"), .created)
    }
    var tables = PartitionTables(id: bench.home)
    for _ in 0..<2 {
      _ = bench.next()
      var cut = draw.rows(into: &tables, of: bench.home, at: bench.lasts[bench.home]!)
      cut.expiries = [
        FeedExpiry(of: TokenExpiry(user: UserID("_absent")), floor: Position(bits: 9))
      ]
      cut.feedback = (0..<3).map { _ in draw.feedback() }
      cut.fanOuts = cut.fanOuts.isEmpty ? [draw.fanOut()] : cut.fanOuts
      _ = try await bench.store.fold(Cut(at: bench.at, partitions: [cut]), leases: bench.leases)
    }
    // A message that one of its two targets has stepped.
    let ordinal = bench.next()
    let rows = [3, 9].enumerated().map { index, target in
      OutboxRow(
        source: bench.home,
        key: OutboxRow.Key(
          target: PartitionID(target), serial: Position(ordinal, index: index)),
        message: .interests([]))
    }
    try await bench.fold { $0.outbox = rows }
    _ = bench.next()
    try await bench.fold { $0.delivered = [rows[0].key] }
    try await bench.end(bench.zone("Gone"), .deleted)
    try await bench.store.takeFeedback(
      through: FeedbackPosition(2), in: Scope(container: "kept", environment: .production))
    for _ in 0..<40 {
      let entry = bench.entry(draw.fact(), in: bench.home)
      try await bench.store.append([entry], leases: bench.leases)
    }
    await bench.store.close()
    try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true)
    for name in files {
      let queue = try DatabaseQueue(path: home.path(name))
      try await queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
      try queue.close()
      try FileManager.default.copyItem(
        at: URL(fileURLWithPath: home.path(name)), to: kept.appendingPathComponent(name))
    }
  }
}
