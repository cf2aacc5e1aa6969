import Foundation
import GRDB
@testable import RelayCore
import RelayEngine
import Testing

@testable import RelayStore

/// On a full disk the store writes nothing and loses nothing, and it goes on when there is room. On
/// a read-only disk it does not start.
@Suite struct FullDiskTests {
  @Test func `an append to a full disk writes nothing, and a later append succeeds`()
    async throws
  {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    let store = try #require(bench.store as? SQLiteStore)
    try await bench.append(bytes: 100)
    try limit(store.journal)
    let before = bench
    await full { try await bench.append(bytes: 100_000) }
    bench = before
    try unlimit(store.journal)
    try await bench.append(bytes: 100_000)
    #expect(try await store.journal(bench.home, after: .zero, limit: 9).count == 2)
    let again = try await Bench(home.crashed(), era: 900)
    #expect(try await again.store.journal(again.home, after: .zero, limit: 9).count == 2)
  }

  @Test func `a fold that fails on a full disk writes nothing and can be repeated`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    let store = try #require(bench.store as? SQLiteStore)
    try await bench.makeZone()
    try store.relay.inspect { try Self.limit($0) }
    let position = Position(bench.next())
    let cut = bench.cut { cut in
      cut.feeds = [
        FeedCut(
          feed: bench.feed,
          deltas: (0..<2_000).map { bench.delta("record \($0)", .created, position.ordinal.number) }
        )
      ]
      cut.heard = [Heard(source: PartitionID(2), serial: position)]
    }
    await full { _ = try await bench.store.fold(cut, leases: bench.leases) }
    #expect(try await bench.read(bench.feed).entries.isEmpty)
    #expect(try await bench.store.load(bench.lease(of: bench.home)).heard.isEmpty)
    try store.relay.inspect { try Self.unlimit($0) }
    _ = try await bench.store.fold(cut, leases: bench.leases)
    #expect(try await bench.read(bench.feed, limit: 1).hasMore)
  }

  /// The test fills a real disk: this program runs again as a child process, and only this child
  /// sees a small file system.
  @Test(
    .enabled(
      if: SmallDisk.path != nil || SmallDisk.canMount,
      "only root may mount a small file system; or mount one and name it: ZONERELAY_DISK=DIR"))
  func `a real disk fills up, and appends succeed after space is freed`() async throws {
    guard let disk = try await SmallDisk.disk(for: "a real disk fills up") else { return }
    let ballast = disk + "/ballast"
    try Data(count: 6 << 20).write(to: URL(fileURLWithPath: ballast))
    let home = try SQLiteHome { $0.directory = disk + "/store" }
    var bench = try await Bench(home)
    var acknowledged = 0
    var refused = 0
    while refused < 20 {
      let before = bench
      do {
        try await bench.append(bytes: 20_000)
        acknowledged += 1
      } catch {
        #expect((error as? StoreError)?.code == .full, "\(error)")
        refused += 1
        bench = before
      }
    }
    do {
      try await bench.fold { _ in }
    } catch {
      #expect((error as? StoreError)?.code == .full, "\(error)")
    }
    try FileManager.default.removeItem(atPath: ballast)
    for _ in 0..<10 { try await bench.append(bytes: 20_000) }
    acknowledged += 10
    let found = try await bench.store.journal(bench.home, after: .zero, limit: 10_000)
    #expect(found.map(\.ordinal.number) == (1...UInt64(acknowledged)).map(\.self))
    let again = try await Bench(home.crashed(), era: 900)
    let kept = try await again.store.journal(again.home, after: .zero, limit: 10_000)
    #expect(kept.map(\.ordinal) == found.map(\.ordinal))
  }

  @Test(.enabled(if: geteuid() == 0 && SmallDisk.canMount, "only root may remount a disk"))
  func `a start on a read-only file system is refused with the remedy`() async throws {
    guard let disk = try await SmallDisk.disk(for: "a start on a read-only") else { return }
    let home = try SQLiteHome { $0.directory = disk + "/store" }
    try SmallDisk.remount(disk, "ro")
    let refused = refusal { try home.store() }
    try SmallDisk.remount(disk, "rw")
    #expect(refused?.code == .unwritable)
    #expect(refused?.message.contains("is read-only; mount it for writing") == true)
    await (try home.store()).close()
  }

  /// On a full disk SQLite cannot even make the files beside a database that it opens. A start
  /// succeeds only when the disk has room again.
  @Test(.enabled(if: SmallDisk.path != nil || SmallDisk.canMount, "as above"))
  func `a start on a real full disk is refused, and a start with room succeeds`() async throws {
    guard let disk = try await SmallDisk.disk(for: "a start on a real full disk") else { return }
    let home = try SQLiteHome { $0.directory = disk + "/store" }
    var bench = try await Bench(home)
    for _ in 0..<4 { try await bench.append(bytes: 20_000) }
    await bench.store.close()
    try SmallDisk.fill(disk)
    #expect(refusal { try home.store() }?.code == .full)
    #expect(SQLiteStore.refusal(in: home.settings.directory) == nil, "a check finds nothing wrong")
    let made = try SQLiteHome { $0.directory = disk + "/made" }
    for _ in 0..<2 { #expect(refusal { try made.store() }?.code == .full) }
    try FileManager.default.removeItem(atPath: disk + "/ballast")
    for home in [home, made] { await (try home.store()).close() }
  }

  @Test func `the code full is used only for errors that surely wrote nothing`() {
    func code(_ result: ResultCode) -> StoreError.Code {
      StoreError.commit(DatabaseError(resultCode: result), file: "journal.db").code
    }
    #expect(code(.SQLITE_FULL) == .full)
    #expect(code(.SQLITE_BUSY) == .busy)
    #expect(code(.SQLITE_IOERR_FSYNC) == .unknown)
    #expect(code(.SQLITE_IOERR_WRITE) == .unknown)
    #expect(code(.SQLITE_CORRUPT) == .unknown)
    func before(_ result: ResultCode) -> StoreError.Code {
      StoreError.rolledBack(DatabaseError(resultCode: result), file: "journal.db").code
    }
    #expect(before(.SQLITE_FULL) == .full)
    #expect(before(.SQLITE_IOERR_WRITE) == .unwritable)
    #expect(before(.SQLITE_READONLY) == .unwritable)
    #expect(before(.SQLITE_BUSY) == .busy)
    #expect(before(.SQLITE_TOOBIG) == .tooLarge)
    #expect(before(.SQLITE_CORRUPT) == .corrupt)
    #expect(before(.SQLITE_CONSTRAINT) == .corrupt)
    func opening(_ result: ResultCode) -> StoreError.Code {
      StoreError.unreadable(DatabaseError(resultCode: result), file: "journal.db").code
    }
    #expect(opening(.SQLITE_FULL) == .full)
    #expect(opening(.SQLITE_IOERR_SHMSIZE) == .full)
    #expect(before(.SQLITE_IOERR_SHMSIZE) == .full)
    #expect(opening(.SQLITE_IOERR_SHMMAP) == .unreadable)
  }

  @Test func `the store refuses all writes after an unknown outcome`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    let store = try #require(bench.store as? SQLiteStore)
    _ = store.settle(Result<Int, StoreError>.failure(.outcomeUnknown("a test", file: "x.db")))
    var codes: [StoreError.Code?] = []
    do { try await bench.append(bytes: 1) } catch { codes.append((error as? StoreError)?.code) }
    do { try await bench.fold { _ in } } catch { codes.append((error as? StoreError)?.code) }
    #expect(codes == [.unknown, .unknown])
    #expect(try await bench.page(bench.privates) != .absent, "reads go on")
  }

  private func full(_ body: () async throws -> Void) async {
    do {
      try await body()
      Issue.record("there was room")
    } catch {
      #expect((error as? StoreError)?.code == .full)
    }
  }

  private func limit(_ journal: JournalFile) throws { try journal.inspect(Self.limit) }
  private func unlimit(_ journal: JournalFile) throws { try journal.inspect(Self.unlimit) }

  private static func limit(_ database: GRDB.Database) throws {
    let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
    _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(pages + 2)")
  }

  private static func unlimit(_ database: GRDB.Database) throws {
    _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = 1000000")
  }
}

extension Bench {
  mutating func append(bytes: Int) async throws {
    let fact = Fact.unregister(
      Unregistration(
        scope: Self.scope, user: Self.owner,
        device: .token([UInt8](repeating: 7, count: bytes))))
    try await store.append([entry(fact, in: home)], leases: leases)
  }
}
