import Foundation
import GRDB
import NIOPosix
import RelayCore
import RelayEngine
import Synchronization

/// `relay.db`: tables and feeds, one writer and readers that never block it.
final class RelayFile: Sendable {
  let path: String
  private let pool: DatabasePool
  private let settings: StoreSettings
  /// A thread a reader. Dispatch would hand each read from one of dozens of threads to another,
  /// and they would take the cores from those that serve.
  private let readers: NIOThreadPool
  /// Before this moment an overgrown log is left alone. Touched on the writer only.
  private let nextCut = Mutex<ContinuousClock.Instant?>(nil)

  /// - Parameter store: the id that a file made now gets.
  init(_ file: StoreFile, _ settings: StoreSettings, store: Data) throws(StoreError) {
    path = file.path
    self.settings = settings
    readers = NIOThreadPool(numberOfThreads: settings.readersMax)
    do {
      var configuration = Configuration()
      configuration.label = "zonerelay.relay"
      // Else its threads ask for a priority that only root has, and say so when it is refused.
      configuration.qos = .default
      configuration.maximumReaderCount = settings.readersMax
      configuration.busyMode = .timeout(Double(settings.lockTimeout.milliseconds) / 1_000)
      pool = try DatabasePool(path: file.path, configuration: configuration)
      try pool.writeWithoutTransaction { database in
        try file.harden(database, settings)
        try database.execute(sql: "PRAGMA cache_size = -\(settings.cacheKiB)")
        try file.migrate(database, store: store)
      }
    } catch {
      throw .unreadable(error, file: file.path)
    }
    readers.start()
  }

  deinit { readers.shutdownGracefully { _ in } }

  /// One write transaction on the calling thread, which it blocks while others write: only for
  /// threads that do nothing else. To change threads would mean to wait for a core twice.
  func writeHere<Value>(
    _ body: (GRDB.Database) throws -> Value
  ) -> Result<Value, StoreError> {
    let result = pool.writeWithoutTransaction {
      Transaction.run(on: $0, file: path, body)
    }
    // After the answer, because it waits for readers.
    if isCutDue { pool.asyncWriteWithoutTransaction { self.cutLog($0) } }
    return result
  }

  /// The log has grown too long, and no reader has just kept it from being cut.
  private var isCutDue: Bool {
    isLogLong && nextCut.withLock { next in next.map { ContinuousClock.now >= $0 } ?? true }
  }

  private var isLogLong: Bool { StoreFile.size(path + "-wal") > settings.logBytesMax }

  /// One write transaction, on the writer's own thread.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Value
  ) async -> Result<Value, StoreError> {
    await withCheckedContinuation { continuation in
      pool.asyncWriteWithoutTransaction { database in
        continuation.resume(
          returning: Transaction.run(on: database, file: self.path, body))
        self.cutLog(database)
      }
    }
  }

  /// Cuts off a log that has grown too long, once all of it is in the file.
  ///
  /// Cutting needs a moment at which no reader uses the log. Readers that come one after another
  /// leave none, so it waits for those that read now; but a reader that stays, such as a backup,
  /// must not keep folds waiting: the wait is short, and its repetitions are rare. When that reader
  /// has gone, one of the next writes cuts the log.
  private func cutLog(_ database: GRDB.Database) {
    guard isCutDue else { return }
    emptyLog(database)
    let isCut = !isLogLong
    let next = ContinuousClock.now + .milliseconds(settings.logCutPause.milliseconds)
    nextCut.withLock { $0 = isCut ? nil : next }
  }

  private func emptyLog(_ database: GRDB.Database) {
    // What fails now, because a reader stays or the disk is full, is tried again later, or at
    // the next start: the log loses nothing.
    try? database.execute(sql: "PRAGMA busy_timeout = \(settings.logCutWait.milliseconds)")
    try? database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    try? database.execute(sql: "PRAGMA busy_timeout = \(settings.lockTimeout.milliseconds)")
  }

  /// One snapshot, on a thread of the file's own.
  ///
  /// - Throws: `closed(file:)` once the file closes, for reads that wait too.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Value
  ) async throws(StoreError) -> Value {
    let path = path
    return try await withCheckedContinuation { continuation in
      readers.submit { state in
        let result: Result<Value, StoreError>
        do {
          switch state {
          case .active:
            // Around it all: the pool looks into the file before the body does.
            result = .success(try DiskError.told { try self.pool.read(body) })
          case .cancelled: result = .failure(.closed(file: path))
          }
        } catch {
          result = .failure(.unreadable(error, file: path))
        }
        continuation.resume(returning: result)
      }
    }.get()
  }

  /// For the start and for tests; blocks.
  func inspect<Value>(_ body: (GRDB.Database) throws -> Value) throws(StoreError) -> Value {
    do {
      return try pool.writeWithoutTransaction(body)
    } catch {
      throw .unreadable(error, file: path)
    }
  }

  /// Returns when the reads that run have ended.
  func close() async {
    // The threads first: a read that comes to the pool while it closes may be given a reader that
    // is closed already, and trap. It fails only where it was called before: no read runs then.
    try? await readers.shutdownGracefully()
    // A log that stays would be applied to another file put in this one's place: a `relay.db` that
    // is restored alone would look like the newest. The last connection to close cannot empty it.
    await withCheckedContinuation { (emptied: CheckedContinuation<Void, Never>) in
      pool.asyncWriteWithoutTransaction { database in
        self.emptyLog(database)
        emptied.resume()
      }
    }
    // What cannot be closed now is closed with the process; nothing durable hangs on it.
    try? pool.close()
  }
}
