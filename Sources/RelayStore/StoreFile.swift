import Foundation
import GRDB
import RelayCore
import RelayEngine

/// One of the store's database files, and the checks before its use.
struct StoreFile {
  /// "ZRLY" in the header of both files, which distinguishes them from databases of other programs.
  static let applicationID: Int32 = 0x5A52_4C59

  var path: String
  /// Each text migrates a file from one schema to the next; the first one sets up an empty file.
  var migrations: [String]
  /// `user_version` of the newest schema that this version of the daemon reads and writes.
  var version: Int32 { Int32(migrations.count) }

  static func journal(in directory: String) -> StoreFile {
    StoreFile(path: directory + "/journal.db", migrations: Schema.journal)
  }

  static func relay(in directory: String) -> StoreFile {
    StoreFile(path: directory + "/relay.db", migrations: Schema.relay)
  }

  /// Refuses a file that is not a store's, is damaged, or has a newer schema than this version of
  /// the daemon reads. A refused file is not changed.
  func check(_ settings: StoreSettings) throws(StoreError) {
    let size = try create()
    guard size > 0 else { return }
    let start = FileHandle(forReadingAtPath: path)?.readData(ofLength: 16)
    guard start == Data("SQLite format 3\0".utf8) else {
      throw .damaged(file: path, "it does not begin as an SQLite database")
    }
    try StoreError.reading(path) {
      let queue = try DatabaseQueue(path: path, configuration: settings.connections("check"))
      try queue.inDatabase { database in
        try checkForm(database)
        guard size <= settings.checkedBytesMax else { return }
        let problem = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no answer"
        guard problem == "ok" else { throw StoreError.damaged(file: path, problem) }
      }
      try queue.close()
    }
  }

  /// Migrates the file to this version's schema. Runs on a writer, in WAL mode.
  ///
  /// - Parameter store: the id that a newly made file gets. `nil` keeps the id that the first
  ///   migration sets.
  func migrate(_ database: GRDB.Database, store: Data? = nil) throws {
    let found = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    guard found < version else { return }
    for (index, migration) in migrations.enumerated() where index >= Int(found) {
      try Transaction.run(on: database, file: path) { database in
        try database.execute(sql: migration)
        if index == 0, let store {
          try database.execute(sql: "UPDATE meta SET store = ?", arguments: [store])
        }
        try database.execute(sql: "PRAGMA application_id = \(Self.applicationID)")
        try database.execute(sql: "PRAGMA user_version = \(index + 1)")
      }.get()
    }
  }

  /// Sets `synchronous` to FULL and reads the setting back. GRDB sets `synchronous` to NORMAL
  /// whenever it opens a file in WAL mode; NORMAL would lose acknowledged commits (P1).
  func harden(_ database: GRDB.Database, _ settings: StoreSettings) throws {
    try database.execute(sql: "PRAGMA synchronous = FULL")
    try database.execute(sql: "PRAGMA wal_autocheckpoint = \(settings.checkpointPages)")
    // Limits the log after a long reader: SQLite shortens the log to this size when it next writes
    // from the log's beginning.
    try database.execute(sql: "PRAGMA journal_size_limit = \(settings.logBytesMax)")
    let found = try Int.fetchOne(database, sql: "PRAGMA synchronous")
    let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode")
    guard found == 2, mode == "wal" else {
      throw StoreError(
        .unreadable,
        "\(path) is not durable: synchronous is \(found ?? -1), journal_mode \(mode ?? "unknown"); "
          + "put the store on a local file system that allows write-ahead logs")
    }
  }

  /// - Returns: the file's size; 0 if it did not exist.
  private func create() throws(StoreError) -> Int64 {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StoreError(
        .unreadable, "cannot open \(path): \(StoreLock.reason); it must be the daemon's own file")
    }
    defer { close(descriptor) }
    return Int64(lseek(descriptor, 0, SEEK_END))
  }

  /// Checks that the file is a zonerelay store and that this version reads its schema.
  func checkForm(_ database: GRDB.Database) throws {
    let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
    let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
    let found = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    guard application == Self.applicationID || (application == 0 && tables == 0) else {
      throw StoreError(
        .corrupt,
        "\(path) is another application's database (application_id \(application)); "
          + "give zonerelay a store.directory of its own")
    }
    guard found <= version else {
      throw StoreError(
        .newer,
        "\(path) was written by a newer zonerelay (form \(found), this one knows \(version)); "
          + "install that version again, or restore a backup made before it")
    }
  }
}

extension StoreFile {
  /// The file's size; zero if it does not exist.
  static func size(_ path: String) -> Int64 {
    // An error counts as a missing file, so the size is zero.
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
  }
}
