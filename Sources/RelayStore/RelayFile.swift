import Foundation
import GRDB
import NIOPosix
import RelayCore
import RelayEngine
import Synchronization

/// `relay.db`: tables and feeds, with one writer and with readers that never block it.
final class RelayFile: Sendable {
  let path: String
  private let pool: DatabasePool
  private let settings: StoreSettings
  /// One thread for each reader. Dispatch would spread the reads over dozens of threads, which
  /// would take cores from the threads that serve requests.
  private let readers: NIOThreadPool
  /// If the last truncation of an overlong write-ahead log failed: the moment before which the
  /// writer does not try again. Otherwise nil. Only the writer changes this value.
  private let nextTruncation = Mutex<ContinuousClock.Instant?>(nil)

  /// - Parameter store: the id that a newly made file gets.
  init(_ file: StoreFile, _ settings: StoreSettings, store: Data) throws(StoreError) {
    path = file.path
    self.settings = settings
    readers = NIOThreadPool(numberOfThreads: settings.readersMax)
    var configuration = settings.connections("relay")
    configuration.maximumReaderCount = settings.readersMax
    pool = try StoreError.reading(file.path) {
      try DatabasePool(path: file.path, configuration: configuration)
    }
    try inspect { database in
      try file.harden(database, settings)
      try database.execute(sql: "PRAGMA cache_size = -\(settings.cacheKiB)")
      try file.migrate(database, store: store)
    }
    readers.start()
  }

  deinit { readers.shutdownGracefully { _ in } }

  /// Runs one write transaction on the calling thread, which waits while another thread writes.
  /// Call this only on threads that do nothing else. If another thread ran the transaction, the
  /// caller would wait for a core twice.
  func writeHere<Value>(
    _ body: (GRDB.Database) throws -> Value
  ) -> Result<Value, StoreError> {
    let result = pool.writeWithoutTransaction {
      Transaction.run(on: $0, file: path, body)
    }
    // Truncate the log after the transaction, because truncating waits for readers.
    if isTruncationDue { pool.asyncWriteWithoutTransaction { self.truncateLog($0) } }
    return result
  }

  /// True if the log is too long and no reader has prevented its truncation within the last
  /// `logTruncationPause`.
  private var isTruncationDue: Bool {
    isLogLong && nextTruncation.withLock { next in next.map { ContinuousClock.now >= $0 } ?? true }
  }

  private var isLogLong: Bool { StoreFile.size(path + "-wal") > settings.logBytesMax }

  /// Runs one write transaction, on the writer's own thread.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Value
  ) async -> Result<Value, StoreError> {
    await withCheckedContinuation { continuation in
      pool.asyncWriteWithoutTransaction { database in
        continuation.resume(
          returning: Transaction.run(on: database, file: self.path, body))
        self.truncateLog(database)
      }
    }
  }

  /// Truncates a log that has grown too long, after SQLite has copied all of it into the file.
  ///
  /// Truncation needs a moment at which no reader uses the log. Readers that follow one another
  /// leave no such moment, so the writer waits for the current ones. A long reader, such as a
  /// backup, must not delay folds, so the wait is short and rarely repeated. When the long reader
  /// has ended, one of the next writes truncates the log.
  private func truncateLog(_ database: GRDB.Database) {
    guard isTruncationDue else { return }
    emptyLog(database)
    let isTruncated = !isLogLong
    let next = ContinuousClock.now + .milliseconds(settings.logTruncationPause.milliseconds)
    nextTruncation.withLock { $0 = isTruncated ? nil : next }
  }

  private func emptyLog(_ database: GRDB.Database) {
    // A failure of these statements (a long reader, a full disk) loses nothing: a later write or
    // the next start tries again.
    try? database.execute(sql: "PRAGMA busy_timeout = \(settings.logTruncationWait.milliseconds)")
    try? database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    try? database.execute(sql: "PRAGMA busy_timeout = \(settings.lockTimeout.milliseconds)")
  }

  /// Reads one snapshot, on a thread of this file.
  ///
  /// - Throws: `closed(file:)` once the file closes, also for reads that wait.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Value
  ) async throws(StoreError) -> Value {
    let path = path
    return try await withCheckedContinuation { continuation in
      readers.submit { state in
        let result = Result { () throws(StoreError) in
          guard case .active = state else { throw .closed(file: path) }
          // Wrap the whole read, because the pool reads the file before it calls `body`.
          return try StoreError.reading(path) {
            try DiskError.told { try self.pool.read(body) }
          }
        }
        continuation.resume(returning: result)
      }
    }.get()
  }

  /// Runs `body` on the writer and blocks; for the start and for tests.
  func inspect<Value>(_ body: (GRDB.Database) throws -> Value) throws(StoreError) -> Value {
    try StoreError.reading(path) { try pool.writeWithoutTransaction(body) }
  }

  /// Closes the file; returns when the running reads have ended.
  func close() async {
    // End the threads first, so that no read runs while the pool closes: the pool could give such a
    // read a closed reader, and the use of a closed reader ends the process.
    try? await readers.shutdownGracefully()
    // Empty the log. If the log kept its entries, SQLite would apply them to any file that replaces
    // this one, so a `relay.db` restored alone would look newer than it is. The close does not
    // empty the log, because GRDB closes the readers last, and a reader cannot write.
    await withCheckedContinuation { (emptied: CheckedContinuation<Void, Never>) in
      pool.asyncWriteWithoutTransaction { database in
        self.emptyLog(database)
        emptied.resume()
      }
    }
    // A failed close is harmless: the process closes the file, and all commits are durable already.
    try? pool.close()
  }
}
