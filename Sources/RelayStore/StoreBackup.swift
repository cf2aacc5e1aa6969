import Foundation
import GRDB
package import RelayCore
import RelayEngine

/// Copies a store's two files while a daemon may be writing them, and checks the copies.
///
/// Each file is copied from one snapshot: SQLite keeps it as long as its reader stays, whatever is
/// written and deleted meanwhile, so the daemon need not be told. The snapshot of `relay.db` is
/// taken first: what the journal holds beyond it is replayed at the next start. If journal rows
/// that it needs were deleted between the two, both are taken again.
package struct StoreBackup {
  /// How far the copying is.
  package struct Progress: Hashable, Sendable {
    package enum Step: Sendable { case copying, checking }
    package var step: Step
    /// `relay.db` or `journal.db`.
    package var file: String
    /// Of the file, copied so far.
    package var bytes: Int64
    package var bytesInAll: Int64
  }

  private let source: String
  private let target: String
  private let progress: (Progress) throws -> Void
  /// Pages copied between two reports of progress.
  private static let pagesPerStep: CInt = 1_024
  private static let snapshotsMax = 100

  /// - Parameters:
  ///   - source: the store's directory.
  ///   - target: an empty directory.
  ///   - progress: told after every few MiB; what it throws ends the copying.
  package init(
    from source: String, to target: String, progress: @escaping (Progress) throws -> Void
  ) {
    self.source = source
    self.target = target
    self.progress = progress
  }

  /// Blocks until both files are copied and checked. After a failure the target may hold parts.
  ///
  /// - Throws: `.unreadable` if there is no store or it cannot be read, `.corrupt` or `.mixed` if
  ///   the copy is not sound, `.full` if it cannot be written.
  package func run() throws(StoreError) {
    guard let relay = try reading("relay.db"), let journal = try reading("journal.db") else {
      throw StoreError(
        .unreadable, "there is no store in \(source): relay.db and journal.db are not both there")
    }
    do {
      try relay.queue.inDatabase { relay in
        try journal.queue.inDatabase { journal in
          // Also after a snapshot of one of them that failed: no database may be left within one.
          defer { Self.release([relay, journal]) }
          try takeSnapshots(relay, journal)
          try copy(relay, "relay.db")
          try copy(journal, "journal.db")
        }
      }
    } catch {
      throw .unreadable(error, file: source)
    }
    try check()
  }

  private func reading(_ name: String) throws(StoreError) -> StoreReading? {
    try StoreReading(path: source + "/" + name, leavesNothing: false)
  }

  private func takeSnapshots(_ relay: GRDB.Database, _ journal: GRDB.Database) throws {
    var refusal: StoreError?
    for _ in 0..<Self.snapshotsMax {
      // A snapshot begins with the first reading in its transaction.
      try relay.beginTransaction(.deferred)
      let relayPart = try read("relay.db") { try StorePair.Relay(relay) }
      try journal.beginTransaction(.deferred)
      let journalPart = try read("journal.db") { try StorePair.Journal(journal) }
      refusal = StorePair(relay: relayPart, journal: journalPart).refusal(in: source)
      if refusal == nil { return }
      Self.release([relay, journal])
    }
    if let refusal { throw refusal }
  }

  /// Names the file that cannot be read.
  private func read<Value>(_ name: String, _ body: () throws -> Value) throws(StoreError) -> Value {
    do {
      return try body()
    } catch {
      throw .unreadable(error, file: source + "/" + name)
    }
  }

  /// Nothing was written in these transactions.
  private static func release(_ databases: [GRDB.Database]) {
    for database in databases where database.isInsideTransaction {
      // The connection is closed next, which ends it as well.
      try? database.rollback()
    }
  }

  private func copy(_ database: GRDB.Database, _ name: String) throws {
    let path = target + "/" + name
    let pageBytes = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0
    do {
      try Self.make(path)
      let copy = try DatabaseQueue(path: path)
      try copy.inDatabase { copy in
        try database.backup(to: copy, pagesPerStep: Self.pagesPerStep) { step in
          let done = step.totalPageCount - step.remainingPageCount
          try progress(
            Progress(
              step: .copying, file: name, bytes: Int64(done) * pageBytes,
              bytesInAll: Int64(step.totalPageCount) * pageBytes))
        }
      }
      try copy.close()
    } catch let error as DatabaseError {
      switch error.resultCode {
      case .SQLITE_CORRUPT, .SQLITE_NOTADB:
        throw StoreError.damaged(file: source + "/" + name, error.text)
      default:
        throw StoreError(.full, "\(path) cannot be written (\(error.text)); make room there")
      }
    }
  }

  /// For its owner only, from its first byte on.
  private static func make(_ path: String) throws(StoreError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StoreError(.full, "\(path) cannot be made: \(StoreLock.reason)")
    }
    close(descriptor)
  }

  /// The copies are whole, and of one moment: the same that a start looks at, and every page.
  private func check() throws(StoreError) {
    for name in ["relay.db", "journal.db"] {
      let path = target + "/" + name
      let size = StoreFile.size(path)
      do {
        try progress(Progress(step: .checking, file: name, bytes: size, bytesInAll: size))
        let queue = try DatabaseQueue(path: path)
        let problem = try queue.inDatabase {
          try String.fetchOne($0, sql: "PRAGMA integrity_check(1)") ?? "no answer"
        }
        try queue.close()
        guard problem == "ok" else {
          throw StoreError.damaged(file: source + "/" + name, "its copy: \(problem)")
        }
      } catch {
        throw .unreadable(error, file: path)
      }
    }
    let pair = try StorePair.read(in: target, leavesNothing: true)
    if let refusal = pair.refusal(in: target) { throw refusal }
    // Copied back over a store that was killed, they take the place of its logs: SQLite would apply
    // a log that is left to the file that it now lies beside.
    for name in ["relay.db-wal", "journal.db-wal"] { try Self.make(target + "/" + name) }
  }
}
