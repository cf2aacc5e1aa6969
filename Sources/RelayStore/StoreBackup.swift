import Foundation
import GRDB
package import RelayCore
import RelayEngine

/// Copies a store's two files while a daemon may be writing them, and checks the copies.
///
/// Each file is copied from one snapshot, which SQLite keeps as long as its reader stays, whatever
/// the daemon writes or deletes meanwhile. The snapshot of `relay.db` is taken first: the next
/// start replays what the journal holds beyond it. If journal rows that this replay needs were
/// deleted between the two snapshots, both snapshots are taken again.
package struct StoreBackup {
  /// How far the copy has come.
  package struct Progress: Hashable, Sendable {
    package enum Step: Sendable { case copying, checking }
    package var step: Step
    /// The file's name: `relay.db` or `journal.db`.
    package var file: String
    /// Bytes of the file copied so far.
    package var bytes: Int64
    package var bytesInAll: Int64
  }

  private let source: String
  private let target: String
  private let progress: (Progress) throws -> Void
  /// The number of pages copied between two reports of progress.
  private static let pagesPerStep: CInt = 1_024
  private static let snapshotsMax = 100

  /// - Parameters:
  ///   - source: the store's directory.
  ///   - target: an empty directory.
  ///   - progress: called after every few MiB; an error that it throws ends the copy.
  package init(
    from source: String, to target: String, progress: @escaping (Progress) throws -> Void
  ) {
    (self.source, self.target, self.progress) = (source, target, progress)
  }

  /// Blocks until both files are copied and checked. After a failure the target may hold parts of
  /// the files.
  ///
  /// - Throws: `.unreadable` if there is no store or the store cannot be read, `.corrupt` if a file
  ///   or its copy is damaged, `.mixed` if the two files do not belong together, `.full` if the
  ///   copy cannot be written.
  package func run() throws(StoreError) {
    guard access(source, R_OK | X_OK) == 0 || errno != EACCES else {
      throw StoreError(
        .unreadable,
        "\(source) cannot be read: \(StoreLock.reason); be root or the user that the daemon runs as"
      )
    }
    guard let relay = try reading("relay.db"), let journal = try reading("journal.db") else {
      throw StoreError(
        .unreadable, "there is no store in \(source): relay.db and journal.db are not both there")
    }
    try StoreError.reading(source) {
      try relay.queue.inDatabase { relay in
        try journal.queue.inDatabase { journal in
          // This runs after a failed snapshot too, because GRDB requires that `inDatabase` leaves
          // no transaction open.
          defer { Self.release([relay, journal]) }
          try takeSnapshots(relay, journal)
          try copy(relay, "relay.db")
          try copy(journal, "journal.db")
        }
      }
    }
    try check()
  }

  private func reading(_ name: String) throws(StoreError) -> StoreReading? {
    try StoreReading(path: source + "/" + name, leavesNothing: false)
  }

  private func takeSnapshots(_ relay: GRDB.Database, _ journal: GRDB.Database) throws {
    var refusal: StoreError?
    for _ in 0..<Self.snapshotsMax {
      // A snapshot begins with the first read in its transaction.
      try relay.beginTransaction(.deferred)
      let relayPart = try StoreError.reading("\(source)/relay.db") { try StorePair.Relay(relay) }
      try journal.beginTransaction(.deferred)
      let journalPart = try StoreError.reading("\(source)/journal.db") {
        try StorePair.Journal(journal)
      }
      refusal = StorePair(relay: relayPart, journal: journalPart).refusal(in: source)
      if refusal == nil { return }
      Self.release([relay, journal])
    }
    if let refusal { throw refusal }
  }

  /// Ends the snapshots. Each snapshot is a transaction that has written nothing.
  private static func release(_ databases: [GRDB.Database]) {
    for database in databases where database.isInsideTransaction {
      // A failed rollback is harmless: closing the connection next ends the transaction too.
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

  /// Makes an empty file that only its owner may ever read and write.
  private static func make(_ path: String) throws(StoreError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StoreError(.full, "\(path) cannot be made: \(StoreLock.reason)")
    }
    close(descriptor)
  }

  /// Checks that the copies are complete and belong together: checks every page, and compares the
  /// two copies as a start does.
  private func check() throws(StoreError) {
    for name in ["relay.db", "journal.db"] {
      let path = target + "/" + name
      let size = StoreFile.size(path)
      try StoreError.reading(path) {
        try progress(Progress(step: .checking, file: name, bytes: size, bytesInAll: size))
        let queue = try DatabaseQueue(path: path)
        let problem = try queue.inDatabase {
          try String.fetchOne($0, sql: "PRAGMA integrity_check(1)") ?? "no answer"
        }
        try queue.close()
        guard problem == "ok" else {
          throw StoreError.damaged(file: source + "/" + name, "its copy: \(problem)")
        }
      }
    }
    let pair = try StorePair.read(in: target, leavesNothing: true)
    if let refusal = pair.refusal(in: target) { throw refusal }
    // If an operator copies the backup over the store of a killed daemon, these empty files replace
    // that store's logs. SQLite would apply a remaining log to the restored file.
    for name in ["relay.db-wal", "journal.db-wal"] { try Self.make(target + "/" + name) }
  }
}
