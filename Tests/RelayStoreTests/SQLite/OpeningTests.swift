import Foundation
import GRDB
import RelayCore
import RelayEngine
import Testing

@testable import RelayStore

/// What a SQLite store refuses to open, and which error it gives.
@Suite struct OpeningTests {
  @Test func `both files use WAL mode and sync at every commit`() async throws {
    let home = try SQLiteHome()
    for _ in 0..<2 {
      let store = try home.store()
      let files = [
        try store.relay.inspect { try Self.pragmas($0) },
        try store.journal.inspect { try Self.pragmas($0) },
      ]
      #expect(files == [["2", "wal", "1515342937"], ["2", "wal", "1515342937"]])
      await store.close()
    }
  }

  @Test func `only the owner may read and write the store's files`() async throws {
    let home = try SQLiteHome()
    let store = try home.store()
    for name in ["relay.db", "relay.db-wal", "journal.db", "journal.db-wal", "lock"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: home.path(name))
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
    await store.close()
  }

  @Test func `a second daemon is refused with the process ID of the first`() async throws {
    let home = try SQLiteHome()
    let store = try home.store()
    let refused = refusal { try home.store() }
    #expect(refused?.code == .inUse)
    #expect(refused?.message.contains("process \(getpid())") == true)
    await store.close()
  }

  @Test func `the error names a directory that is missing or is a file`() throws {
    let missing = StoreSettings(directory: "/nonexistent/zonerelay")
    let refused = refusal { try SQLiteStore(missing) }
    #expect(refused?.code == .unreadable)
    #expect(refused?.message.contains("/nonexistent/zonerelay does not exist") == true)

    let home = try SQLiteHome()
    try Data("x".utf8).write(to: URL(fileURLWithPath: home.path("file")))
    let file = StoreSettings(directory: home.path("file"))
    #expect(refusal { try SQLiteStore(file) }?.message.contains("not a directory") == true)
  }

  @Test(.enabled(if: geteuid() != 0, "root may write anywhere"))
  func `the error says that a directory cannot be written`() throws {
    let home = try SQLiteHome()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o500], ofItemAtPath: home.settings.directory)
    #expect(refusal { try home.store() }?.message.contains("cannot be written") == true)
  }

  @Test(arguments: ["relay.db", "journal.db"])
  func `a file that is not a database is refused and left unchanged`(name: String) throws {
    let home = try SQLiteHome()
    let junk = Data("this is no database, and it may be of use".utf8)
    try junk.write(to: URL(fileURLWithPath: home.path(name)))
    let refused = refusal { try home.store() }
    #expect(refused?.code == .corrupt)
    #expect(refused?.message.contains(home.path(name)) == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: home.path(name))) == junk)
  }

  @Test(arguments: ["relay.db", "journal.db"])
  func `a start refuses a file with a damaged page`(name: String) async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    for index in 0..<60 {
      let entry = bench.entry(.lostHistory(bench.feed, since: .zero), in: bench.home)
      try await bench.store.append([entry], leases: bench.leases)
      if index < 30 { try await bench.makeZone("zone\(index)") }
    }
    await bench.store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: home.path(name)))
    for index in 4_096..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
    try bytes.write(to: URL(fileURLWithPath: home.path(name)))
    let refused = refusal { try home.store() }
    #expect(refused?.code == .corrupt)
    #expect(refused?.message.contains("restore a backup") == true)
  }

  /// A start reads no feeds, so only SQLite's own check finds this damage. The check takes long
  /// in a large file.
  @Test(arguments: [true, false])
  func `only a file up to checkedBytesMax is checked whole at a start`(isChecked: Bool) async throws
  {
    let home = try SQLiteHome { if !isChecked { $0.checkedBytesMax = 4_096 } }
    var bench = try await Bench(home)
    try await bench.makeZone()
    let store = try #require(bench.store as? SQLiteStore)
    let root = try store.relay.inspect {
      try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'entries'")
    }
    await bench.store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: home.path("relay.db")))
    let page = (try #require(root) - 1) * 4_096
    for index in page..<page + 4_096 { bytes[index] = 0xee }
    try bytes.write(to: URL(fileURLWithPath: home.path("relay.db")))
    #expect(refusal { try home.store() }?.code == (isChecked ? .corrupt : nil))
  }

  @Test func `a fold waits for another process's write lock before it is refused`() async throws {
    let home = try SQLiteHome { $0.lockTimeout = Span(milliseconds: 200) }
    var bench = try await Bench(home)
    try await bench.makeZone()
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: home.path("relay.db"), configuration: configuration)
    try await other.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
    let began = ContinuousClock.now
    await #expect(throws: StoreError.self) { try await bench.record("r", .created) }
    #expect(began.duration(to: .now) >= .milliseconds(200))
    try await other.writeWithoutTransaction { try $0.rollback() }
    _ = try await bench.record("r", .created)
    await bench.store.close()
    try other.close()
  }

  @Test func `another application's database is refused and left unchanged`() throws {
    let home = try SQLiteHome()
    let queue = try DatabaseQueue(path: home.path("relay.db"))
    try queue.writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE recipes (name TEXT)") }
    try queue.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: home.path("relay.db")))
    let refused = refusal { try home.store() }
    #expect(refused?.code == .corrupt)
    #expect(refused?.message.contains("another application's database") == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: home.path("relay.db"))) == before)
  }

  /// A crash may leave a database to which the relay has written nothing yet.
  @Test(arguments: [(application: 0, isRefused: false), (7, true)])
  func `an empty database is taken unless another application marked it`(
    application: Int, isRefused: Bool
  ) throws {
    let home = try SQLiteHome()
    let queue = try DatabaseQueue(path: home.path("relay.db"))
    try queue.writeWithoutTransaction { database in
      try database.execute(
        sql: "PRAGMA application_id = \(application); CREATE TABLE t (a); DROP TABLE t")
    }
    try queue.close()
    for found in [
      SQLiteStore.refusal(in: home.settings.directory), refusal { try home.store() },
    ] {
      #expect((found != nil) == isRefused)
      if let found { #expect(found.message.contains("another application's database")) }
    }
  }

  @Test(arguments: ["relay.db", "journal.db"])
  func `a file of a newer version is refused with its version`(name: String) async throws {
    let home = try SQLiteHome()
    let store = try home.store()
    if name == "relay.db" {
      try store.relay.inspect { try $0.execute(sql: "PRAGMA user_version = 99") }
    } else {
      try store.journal.inspect { try $0.execute(sql: "PRAGMA user_version = 99") }
    }
    await store.close()
    let refused = refusal { try home.store() }
    #expect(refused?.code == .newer)
    #expect(refused?.message.contains("form 99, this one knows 1") == true)
  }

  private static func pragmas(_ database: GRDB.Database) throws -> [String] {
    try ["synchronous", "journal_mode", "application_id"].map {
      try String.fetchOne(database, sql: "PRAGMA \($0)") ?? "none"
    }
  }
}
