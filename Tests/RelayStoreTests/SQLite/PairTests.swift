import Foundation
import GRDB
import RelayCore
import RelayEngine
import Testing

@testable import RelayStore

/// The store's two files belong together; otherwise the store is not opened.
@Suite struct PairTests {
  /// Takes `relay.db` of one moment and `journal.db` of another moment, for all pairs of moments. A
  /// start either refuses the pair or finds every entry of both files. Files of the same moment, as
  /// a crash leaves them, are always accepted.
  @Test func `files of two moments are refused if an entry is missing`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    var moments: [(files: SQLiteHome, last: UInt64, folded: UInt64)] = []
    for step in 0..<6 {
      try await bench.append(bytes: 10)
      if step % 3 == 1 { try await bench.append(bytes: 10) }
      let folded = moments.last?.folded ?? 0
      moments.append((try home.copy(), bench.lasts[bench.home]!.number, folded))
      guard step % 2 == 1 else { continue }
      try await bench.fold { _ in }
      let last = bench.lasts[bench.home]!.number
      moments.append((try home.copy(), last, last))
    }
    await bench.store.close()
    var refused = 0
    for (newest, tables) in moments.enumerated() {
      for (place, journal) in moments.enumerated() {
        let mixed = try tables.files.mixed(withJournalOf: journal.files)
        guard let again = try? await Bench(mixed, era: 900) else {
          #expect(newest != place, "a crash at moment \(place) looks like a bad pair")
          refused += 1
          continue
        }
        let cursor = try await again.store.load(again.lease(of: again.home)).cursor.number
        let tail = try await again.store.journal(again.home, after: Ordinal(cursor), limit: 99)
        let whole = (cursor..<max(cursor, journal.last)).map { $0 + 1 }
        #expect(tail.map(\.ordinal.number) == whole, "tables of \(newest), journal of \(place)")
        #expect(max(cursor, journal.last) >= tables.folded)
        await again.store.close()
      }
    }
    #expect(refused > moments.count)
  }

  /// If the store's key was lost, a start makes a new key, and the store accepts the new key. The
  /// store goes on accepting the lost key too, in case the operator finds that key.
  @Test func `an identity key that the store never had is refused`() async throws {
    let home = try SQLiteHome()
    let keys = (UInt8(1)...3).map { [UInt8](repeating: $0, count: 16) }
    await (try Bench(home)).store.close()
    var store = try home.store()
    try store.claim(identity: keys[0], isNew: true)
    await store.close()
    store = try home.store()
    try store.claim(identity: keys[0], isNew: false)
    for key in keys[1...] {
      let refused = refusal { try store.claim(identity: key, isNew: false) }
      #expect(refused?.code == .mixed)
      #expect(refused?.message.contains("\(home.settings.directory)/keys/1.key") == true)
    }
    try store.claim(identity: keys[1], isNew: true)
    await store.close()
    store = try home.store()
    for key in keys[..<2] { try store.claim(identity: key, isNew: false) }
    #expect(refusal { try store.claim(identity: keys[2], isNew: false) }?.code == .mixed)
    await store.close()
  }

  /// Until a daemon has served with the store, the store accepts any identity key, such as one that
  /// the operator provided. Afterwards the store accepts only the keys that it accepted before.
  @Test func `a store that has never served accepts any identity key`() async throws {
    let home = try SQLiteHome()
    let directory = home.settings.directory
    let keys = (UInt8(7)...9).map { [UInt8](repeating: $0, count: 16) }
    #expect(SQLiteStore.refusal(of: keys[0], in: directory) == nil)
    let store = try home.store()
    for key in keys[..<2] { try store.claim(identity: key, isNew: false) }
    await store.close()
    #expect(SQLiteStore.refusal(of: keys[2], in: directory) == nil)
    await (try Bench(home)).store.close()
    #expect(keys[..<2].allSatisfy { SQLiteStore.refusal(of: $0, in: directory) == nil })
    #expect(SQLiteStore.refusal(of: keys[2], in: directory)?.code == .mixed)
  }

  /// A start that failed may leave a file without tables.
  @Test func `a file without tables counts as a new store`() throws {
    let home = try SQLiteHome()
    let database = try DatabaseQueue(path: home.path("relay.db"))
    try database.writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE a (b); DROP TABLE a") }
    try database.close()
    #expect(try home.size("relay.db") > 0)
    let pair = try StorePair.read(in: home.settings.directory, leavesNothing: true)
    #expect(pair.relay == nil && pair.journal == nil)
  }

  @Test func `an older journal beside newer tables is refused and named as older`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    try await bench.append(bytes: 10)
    let old = try home.copy()
    try await bench.append(bytes: 10)
    try await bench.fold { _ in }
    await bench.store.close()
    let refused = refusal { try home.copy().mixed(withJournalOf: old).store() }
    #expect(refused?.code == .mixed)
    #expect(refused?.message.contains("journal.db in") == true)
    #expect(refused?.message.contains("is older than relay.db (it ends with row 1") == true)
    #expect(refused?.message.contains("restore both files from one backup") == true)
  }

  @Test func `older tables beside a newer journal are refused and named as older`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    let old = try home.copy()
    for _ in 0..<3 {
      try await bench.append(bytes: 10)
      try await bench.fold { _ in }
    }
    await bench.store.close()
    let refused = refusal { try old.mixed(withJournalOf: home.copy()).store() }
    #expect(refused?.code == .mixed)
    #expect(refused?.message.contains("is older than journal.db") == true)
  }

  /// A stop empties both write-ahead logs, because SQLite would apply them to a file copied over
  /// the store's own file.
  @Test func `older tables copied over a stopped store are refused`() async throws {
    let home = try SQLiteHome()
    let bench = try await Bench(home)
    await bench.store.close()
    let old = try Data(contentsOf: URL(fileURLWithPath: home.path("relay.db")))
    var again = try await Bench(home, era: 900)
    for _ in 0..<3 {
      try await again.append(bytes: 10)
      try await again.fold { _ in }
    }
    _ = try await again.page(again.privates)
    await again.store.close()
    #expect(StoreFile.size(home.path("relay.db-wal")) == 0)
    #expect(StoreFile.size(home.path("journal.db-wal")) == 0)
    try old.write(to: URL(fileURLWithPath: home.path("relay.db")))
    let refused = refusal { try home.store() }
    #expect(refused?.code == .mixed)
    #expect(refused?.message.contains("is older than journal.db") == true)
  }

  @Test func `files of two different stores are refused`() async throws {
    let (one, other) = (try SQLiteHome(), try SQLiteHome())
    for home in [one, other] { await (try home.store()).close() }
    let refused = refusal { try one.copy().mixed(withJournalOf: other.copy()).store() }
    #expect(refused?.code == .mixed)
    #expect(refused?.message.contains("belong to two different stores") == true)
  }

  /// Another number of partitions would put users into other partitions.
  @Test func `a store with another number of partitions is refused`() async throws {
    let home = try SQLiteHome()
    await (try Bench(home)).store.close()
    let queue = try DatabaseQueue(path: home.path("relay.db"))
    try await queue.write { try $0.execute(sql: "UPDATE meta SET partitions = 128") }
    try queue.close()
    let refused = refusal { try home.store() }
    #expect(refused?.code == .newer)
    #expect(refused?.message.contains("relay.db has 128 partitions") == true)
  }

  @Test(arguments: ["relay.db", "journal.db"])
  func `a store with one missing file is refused and left unchanged`(name: String) async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    try await bench.append(bytes: 10)
    await bench.store.close()
    try FileManager.default.removeItem(atPath: home.path(name))
    for _ in 0..<2 {
      let refused = refusal { try home.store() }
      #expect(refused?.code == .mixed)
      #expect(refused?.message.contains("\(name) is missing or empty") == true)
      #expect(try home.size(name) == 0)
    }
  }

  @Test func `a WAL without its database file is refused and kept`() async throws {
    let home = try SQLiteHome { $0.checkpointPages = 0 }
    var bench = try await Bench(home)
    try await bench.append(bytes: 10)
    let copy = try home.copy()
    try FileManager.default.removeItem(atPath: copy.path("journal.db"))
    let refused = refusal { try copy.store() }
    #expect(refused?.code == .corrupt)
    #expect(refused?.message.contains("beside a") == true)
    #expect(try copy.size("journal.db-wal") == home.size("journal.db-wal"))
  }

  @Test func `a start repairs a store whose creation crashed between the two files`() async throws {
    let home = try SQLiteHome()
    await (try home.store()).close()
    try FileManager.default.removeItem(atPath: home.path("relay.db"))
    await (try home.store()).close()
    await (try home.store()).close()
  }

  @Test func `a check accepts a store at rest or in use and leaves no file behind`() async throws {
    let home = try SQLiteHome()
    #expect(SQLiteStore.refusal(in: home.settings.directory) == nil)
    var bench = try await Bench(home)
    for _ in 0..<3 {
      try await bench.append(bytes: 10)
      try await bench.fold { _ in }
      #expect(SQLiteStore.refusal(in: home.settings.directory) == nil)
    }
    await bench.store.close()
    let before = try FileManager.default.contentsOfDirectory(atPath: home.settings.directory)
    #expect(SQLiteStore.refusal(in: home.settings.directory) == nil)
    let after = try FileManager.default.contentsOfDirectory(atPath: home.settings.directory)
    #expect(after.sorted() == before.sorted())
  }

  @Test(arguments: ["relay.db", "journal.db"])
  func `a check finds a file of a newer version`(name: String) async throws {
    let home = try SQLiteHome()
    await (try home.store()).close()
    let queue = try DatabaseQueue(path: home.path(name))
    try queue.inDatabase { try $0.execute(sql: "PRAGMA user_version = 999") }
    try queue.close()
    #expect(SQLiteStore.refusal(in: home.settings.directory)?.code == .newer)
  }
}

extension SQLiteHome {
  /// This store's `relay.db` beside another store's `journal.db`, in a new directory.
  func mixed(withJournalOf other: SQLiteHome) throws -> SQLiteHome {
    let mixed = try SQLiteHome()
    for (home, names) in [
      (self, ["relay.db", "relay.db-wal"]), (other, ["journal.db", "journal.db-wal"]),
    ] {
      for name in names where FileManager.default.fileExists(atPath: home.path(name)) {
        try FileManager.default.copyItem(atPath: home.path(name), toPath: mixed.path(name))
      }
    }
    return mixed
  }
}
