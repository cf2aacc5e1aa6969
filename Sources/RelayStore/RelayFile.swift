import GRDB
import RelayCore
import RelayEngine
import Synchronization

/// `relay.db`: tables and feeds, one writer and readers that never block it.
final class RelayFile: Sendable {
  let path: String
  private let pool: DatabasePool
  private let logBytesMax: Int64

  init(_ file: StoreFile, _ settings: StoreSettings) throws(StoreError) {
    path = file.path
    logBytesMax = settings.logBytesMax
    do {
      var configuration = Configuration()
      configuration.label = "zonerelay.relay"
      configuration.maximumReaderCount = settings.readersMax
      configuration.busyMode = .timeout(Double(settings.lockTimeout.milliseconds) / 1_000)
      pool = try DatabasePool(path: file.path, configuration: configuration)
      try pool.writeWithoutTransaction { database in
        try file.harden(database, settings)
        try database.execute(sql: "PRAGMA cache_size = -\(settings.cacheKiB)")
        try file.migrate(database)
      }
    } catch {
      throw .unreadable(error, file: file.path)
    }
  }

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

  private func cutLog(_ database: GRDB.Database) {
    guard StoreFile.size(path + "-wal") > logBytesMax else { return }
    // What fails now, because a reader lingers or the disk is full, is tried after the next write.
    try? database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// One snapshot, on a reader's own thread.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Value
  ) async throws(StoreError) -> Value {
    let path = path
    return try await withCheckedContinuation { continuation in
      pool.asyncRead { database in
        let result: Result<Value, StoreError>
        do {
          result = .success(try body(database.get()))
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

  func close() {
    // What cannot be closed now is closed with the process; nothing durable hangs on it.
    try? pool.close()
  }
}
