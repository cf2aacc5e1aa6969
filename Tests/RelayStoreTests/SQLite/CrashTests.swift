import Foundation
import GRDB
@testable import RelayCore
import RelayEngine
import Testing

@testable import RelayStore

/// Crashes at every moment: the store then contains each acknowledged write, and each other write
/// as a whole or not at all (P1). The files are copied while the store runs, with the logs cut at
/// any byte: the states that a kill, or a loss of power after the last sync, leaves.
@Suite struct CrashTests {
  @Test func `a journal cut at any byte has exactly the entries acknowledged by then`()
    async throws
  {
    let home = try SQLiteHome { $0.checkpointPages = 0 }
    var bench = try await Bench(home)
    var acknowledged: [(bytes: Int, entries: Int)] = [(try home.size("journal.db-wal"), 0)]
    var entries = 0
    for group in 1...12 {
      let count = group % 4 + 1
      let facts = (0..<count).map { _ in
        bench.entry(.lostHistory(bench.feed, since: .zero), in: bench.home)
      }
      try await bench.store.append(facts, leases: bench.leases)
      entries += count
      acknowledged.append((try home.size("journal.db-wal"), entries))
    }
    var draw = SeededRandom(seed: 5)
    let cuts = (0..<25).map { _ in draw.number(acknowledged[0].bytes..<acknowledged[12].bytes + 1) }
    for cut in cuts + acknowledged.map(\.bytes) {
      let copy = try home.copy()
      try copy.truncate("journal.db-wal", to: cut)
      let expected = acknowledged.last { $0.bytes <= cut }!.entries
      let again = try await Bench(copy, era: 900)
      let found = try await again.store.journal(again.home, after: .zero, limit: 1_000)
      #expect(found.map(\.ordinal.number) == Array(0..<UInt64(expected)).map { $0 + 1 })
      #expect(again.lease(of: again.home).era.first.number == UInt64(expected) + 1)
      await again.store.close()
    }
  }

  @Test func `a fold cut at any byte is present completely or not at all`() async throws {
    let home = try SQLiteHome { $0.checkpointPages = 0 }
    var bench = try await Bench(home)
    var states: [(bytes: Int, cursor: UInt64)] = [(try home.size("relay.db-wal"), 0)]
    for fold in 1...8 {
      let position = Position(bench.next())
      let number = position.ordinal.number
      try await bench.fold { cut in
        cut.feeds = [
          FeedCut(feed: bench.privates, deltas: [bench.zoneDelta("z\(number)", position)]),
          FeedCut(
            feed: bench.feed,
            deltas: (0..<fold * 20).map { bench.delta("r\(number).\($0)", .created, number) }),
        ]
        cut.heard = [Heard(source: PartitionID(1), serial: position)]
      }
      states.append((try home.size("relay.db-wal"), number))
    }
    var draw = SeededRandom(seed: 6)
    for _ in 0..<25 {
      let cut = draw.number(states[0].bytes..<states[8].bytes + 1)
      let copy = try home.copy()
      try copy.truncate("relay.db-wal", to: cut)
      let expected = states.last { $0.bytes <= cut }!.cursor
      let again = try await Bench(copy, era: 900)
      let tables = try await again.store.load(again.lease(of: again.home))
      #expect(tables.cursor.number == expected)
      #expect(tables.heard.map(\.serial.ordinal.number) == (expected == 0 ? [] : [expected]))
      #expect(try await again.read(again.privates).entries.count == Int(expected))
      #expect(try await again.store.head(of: again.feed).position.ordinal.number == expected)
      await again.store.close()
    }
  }

  @Test func `after a crash the journal returns only the entries not yet folded`()
    async throws
  {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    for _ in 0..<3 { try await bench.append(bytes: 10) }
    try await bench.fold { _ in }
    for _ in 0..<2 { try await bench.append(bytes: 10) }
    let again = try await Bench(home.crashed(), era: 900)
    let cursor = try await again.store.load(again.lease(of: again.home)).cursor
    #expect(cursor == Ordinal(3))
    let tail = try await again.store.journal(again.home, after: cursor, limit: 9)
    #expect(tail.map(\.ordinal) == [Ordinal(4), Ordinal(5)])
  }

  @Test func `journal rows are removed after every partition has folded them`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    let store = try #require(bench.store as? SQLiteStore)
    let other = bench.leases.first { $0.partition != bench.home }!.partition
    func rows() throws -> Int {
      try store.journal.inspect { try Int.fetchOne($0, sql: "SELECT count(*) FROM journal") } ?? -1
    }
    let entries = [
      bench.entry(.lostHistory(bench.feed, since: .zero), in: bench.home),
      bench.entry(.lostHistory(bench.feed, since: .zero), in: other),
    ]
    try await store.append(entries, leases: bench.leases)
    try await bench.fold { _ in }
    try await bench.append(bytes: 1)
    #expect(try rows() == 2, "the other partition has not folded the first")
    _ = try await store.fold(bench.cut(other) { _ in }, leases: bench.leases)
    try await bench.append(bytes: 1)
    #expect(try rows() == 2, "the first went as the third came")
    await store.close()
    await store.close()
    let again = try home.store()
    let left = try again.journal.inspect {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM journal")
    }
    #expect(left == 2, "what is not folded stays")
    await again.close()
  }

  @Test func `rows that were folded before a start are removed after it`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    for _ in 0..<3 { try await bench.append(bytes: 1) }
    try await bench.fold { _ in }
    await bench.store.close()
    var again = try await Bench(home, era: 500)
    try await again.append(bytes: 1)
    let store = try #require(again.store as? SQLiteStore)
    let rows = try store.journal.inspect {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM journal")
    }
    #expect(rows == 1)
    await store.close()
  }

  @Test func `each append removes further rows, up to the bound of one append`() async throws {
    let home = try SQLiteHome { $0.journalRowsDeletedMax = 1 }
    var bench = try await Bench(home)
    let store = try #require(bench.store as? SQLiteStore)
    for _ in 0..<5 { try await bench.append(bytes: 1) }
    try await bench.fold { _ in }
    var rows: [Int?] = []
    for _ in 0..<3 {
      try await bench.append(bytes: 1)
      rows.append(
        try store.journal.inspect { try Int.fetchOne($0, sql: "SELECT min(seq) FROM journal") })
    }
    #expect(rows == [2, 3, 4])
    await store.close()
  }

  @Test func `a restored older store expires the tokens made after the copy`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home, era: 100)
    try await bench.makeZone()
    _ = try await bench.record("a", .created)
    let early = try await bench.read(bench.feed).next
    let yesterday = try home.copy()
    _ = try await bench.record("b", .created)
    let late = try await bench.read(bench.feed).next
    await bench.store.close()

    var restored = try await Bench(yesterday, era: 500)
    let since = Position(restored.lease(of: restored.home).era.first)
    #expect(
      try await restored.page(restored.feed, after: late) == .expired(.lostHistory(since: since)))
    _ = try await restored.record("c", .created)
    #expect(
      try await restored.page(restored.feed, after: late) == .expired(.lostHistory(since: since)))
    let page = try await restored.read(restored.feed, after: early)
    #expect(page.entries.map(\.subject) == [.record("c")])
    await restored.store.close()
  }

  @Test func `the store truncates the WAL of relay.db when it has grown too long`() async throws {
    let home = try SQLiteHome {
      $0.checkpointPages = 0
      $0.logBytesMax = 100_000
    }
    var bench = try await Bench(home)
    try await bench.makeZone()
    for index in 0..<40 { _ = try await bench.record("r\(index)", .created) }
    await bench.barrier()
    #expect(try home.size("relay.db-wal") < 200_000)
    #expect(try await bench.read(bench.feed).entries.count == 40)
  }

  /// A claim and a trim are written by another method than a fold.
  @Test func `the store truncates the WAL of relay.db after claims too`() async throws {
    let home = try SQLiteHome {
      $0.checkpointPages = 0
      $0.logBytesMax = 100_000
    }
    let bench = try await Bench(home)
    for era in 1...40 as ClosedRange<UInt64> {
      _ = try await bench.store.claim(
        eras: Dictionary(
          uniqueKeysWithValues: PartitionID.all.map { ($0, era << 32 + UInt64($0.number)) }))
    }
    await bench.barrier()
    #expect(try home.size("relay.db-wal") < 200_000)
  }

  @Test func `a long read delays no fold, and the WAL is truncated after the read`()
    async throws
  {
    let home = try SQLiteHome {
      $0.checkpointPages = 0
      $0.logBytesMax = 100_000
      $0.logTruncationPause = .zero
    }
    var bench = try await Bench(home)
    try await bench.makeZone()
    var configuration = Configuration()
    configuration.readonly = true
    configuration.allowsUnsafeTransactions = true
    let reader = try DatabaseQueue(path: home.path("relay.db"), configuration: configuration)
    try reader.inDatabase { database in
      try database.beginTransaction(.deferred)
      #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM entries") == 1)
    }
    let began = ContinuousClock.now
    for index in 0..<60 { _ = try await bench.record("r\(index)", .created) }
    await bench.barrier()
    #expect(began.duration(to: .now) < .milliseconds(home.settings.lockTimeout.milliseconds))
    #expect(try home.size("relay.db-wal") > 200_000)
    try reader.inDatabase { database in
      #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM entries") == 1)
      try database.rollback()
    }
    _ = try await bench.record("last", .created)
    await bench.barrier()
    #expect(try home.size("relay.db-wal") < 200_000)
    try reader.close()
  }

  @Test func `a closed store refuses writes and reads`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    await bench.store.close()
    await bench.store.close()
    do {
      try await bench.append(bytes: 1)
      Issue.record("it was taken")
    } catch {
      #expect((error as? StoreError)?.code == .unreadable)
    }
    do {
      _ = try await bench.page(bench.privates)
      Issue.record("it was read")
    } catch {
      #expect((error as? StoreError)?.code == .unreadable)
    }
  }
}

extension SQLiteHome {
  func truncate(_ name: String, to bytes: Int) throws {
    let handle = try #require(FileHandle(forWritingAtPath: path(name)))
    try handle.truncate(atOffset: UInt64(bytes))
    try handle.close()
  }
}

extension Bench {
  /// Waits until the store's writer has done the work that follows its last answer.
  func barrier() async {
    _ = await (store as? SQLiteStore)?.relay.write { _ in true }
  }

  func zoneDelta(_ name: String, _ position: Position) -> SubjectDelta {
    let subject = Subject.zone(zone(name))
    return SubjectDelta(subject: subject, delta: Delta(mutation(subject, .created, position)))
  }
}
