import Foundation
import GRDB
package import RelayCore
package import RelayEngine
import Synchronization

/// `journal.db`: one row for each group commit, written in sequence by a connection of its own, so
/// that folding never delays accepting.
final class JournalFile: Sendable {
  private let queue: DatabaseQueue
  private let path: String
  private let settings: StoreSettings
  /// The id that both files of the store carry.
  let store: Data
  /// Only the queue adds rows. Other threads note cursors, and read the last ordinals and the last
  /// row's number.
  private let tail = Mutex(JournalTail())

  /// Opens the file and reads all of its rows.
  init(_ file: StoreFile, _ settings: StoreSettings) throws(StoreError) {
    path = file.path
    self.settings = settings
    var configuration = settings.connections("journal")
    configuration.journalMode = .wal
    (queue, store) = try StoreError.reading(file.path) {
      let queue = try DatabaseQueue(path: file.path, configuration: configuration)
      let store = try queue.writeWithoutTransaction { database in
        try file.harden(database, settings)
        try file.migrate(database)
        return try Data.fetchOne(database, sql: "SELECT store FROM meta") ?? Data()
      }
      return (queue, store)
    }
    try inspect { try survey($0) }
  }

  /// Last ordinals in the journal, by partition.
  var lasts: [Ordinal] { tail.withLock { $0.lasts } }

  /// The number of the last durable row.
  var last: Int64 { tail.withLock { $0.last } }

  /// Runs `body` on the queue and blocks; for the start and for tests.
  func inspect<Value>(_ body: (GRDB.Database) throws -> Value) throws(StoreError) -> Value {
    try StoreError.reading(path) { try queue.inDatabase(body) }
  }

  /// Makes entries durable as one row, on the calling thread.
  ///
  /// - Parameter isCurrent: called when the connection is free, because a lease may have ended
  ///   while the caller waited for the connection.
  func append(
    _ entries: [JournalEntry], if isCurrent: () -> StoreError?
  ) -> Result<Void, StoreError> {
    queue.writeWithoutTransaction { database in
      if let refusal = isCurrent() { return .failure(refusal) }
      let (seq, deletable) = self.tail.withLock {
        ($0.next, $0.deletable(limit: self.settings.journalRowsDeletedMax))
      }
      let result = Transaction.run(on: database, file: self.path) { database in
        if let deletable { try self.delete(deletable, in: database) }
        let mask = entries.reduce(UInt64(0)) { $0 | 1 << UInt64($1.partition.number) }
        try database.run(
          "INSERT INTO journal (seq, partitions, entries) VALUES (?, ?, ?)",
          [seq, Int64(bitPattern: mask), Data(JournalRow.blob(of: entries))])
      }
      guard case .success = result else { return result }
      self.tail.withLock { tail in
        if let deletable { tail.first = deletable.upperBound + 1 }
        tail.add(
          entries.map { JournalRow.Mark(partition: $0.partition, ordinal: $0.ordinal) }, seq: seq)
      }
      return result
    }
  }

  /// Notes that the cursors are durable: one of the next appends may delete the rows that are
  /// folded.
  func folded(to cursors: [PartitionID: Ordinal]) {
    tail.withLock { $0.fold(to: cursors) }
  }

  /// Reads whole rows of the journal after `place`, until it has `limit` entries that are beyond
  /// their partition's cursor.
  func part(
    after place: JournalPlace?, beyond cursors: [PartitionID: Ordinal], limit: Int
  ) async throws(StoreError) -> JournalPart {
    try await onQueue { database throws(StoreError) in
      try StoreError.reading(self.path) {
        var entries: [JournalEntry] = []
        let rows = try Row.fetchCursor(
          database, sql: "SELECT seq, entries FROM journal WHERE seq > ? ORDER BY seq",
          arguments: [place?.number ?? 0])
        while let row = try rows.next() {
          entries += try JournalRow.entries(in: row.bytes(1)) { mark in
            cursors[mark.partition].map { mark.ordinal > $0 } ?? false
          }
          if entries.count >= limit {
            return JournalPart(entries: entries, next: JournalPlace(row[0]))
          }
        }
        return JournalPart(entries: entries, next: nil)
      }
    }
  }

  /// Waits until every append that began before this call has ended.
  func barrier() async {
    // Nothing is read or written, so nothing fails.
    try? await onQueue { _ throws(StoreError) in }
  }

  func close() async {
    // A failure is harmless: rows that are not deleted now are deleted after the next start.
    try? await onQueue { database throws(StoreError) in
      let deletable = self.tail.withLock { $0.deletable(limit: .max >> 1) }
      guard let deletable else { return }
      try Transaction.run(on: database, file: self.path) { try self.delete(deletable, in: $0) }
        .get()
    }
    // A failed close is harmless: the process closes the file, and all commits are durable already.
    try? queue.close()
  }

  private func delete(_ range: ClosedRange<Int64>, in database: GRDB.Database) throws {
    try database.run(
      "DELETE FROM journal WHERE seq BETWEEN ? AND ?", [range.lowerBound, range.upperBound])
    var folded = StoreKey()
    for cursor in tail.withLock({ $0.cursors }) { folded.word(cursor.number) }
    try database.run(
      "UPDATE meta SET deleted = ?, folded = ?", [range.upperBound, folded.data])
  }

  private func survey(_ database: GRDB.Database) throws {
    let found = try Int64.fetchOne(database, sql: "SELECT deleted FROM meta") ?? 0
    let deleted = try found.checked("row", in: Self.rowNumbers)
    tail.withLock { $0 = JournalTail(after: deleted) }
    var lasts = [Ordinal](repeating: .zero, count: PartitionID.count)
    let rows = try Row.fetchCursor(database, sql: "SELECT seq, entries FROM journal ORDER BY seq")
    while let row = try rows.next() {
      let seq = try (row[0] as Int64).checked("row", in: Self.rowNumbers)
      let marks = try JournalRow.marks(in: row.bytes(1))
      // Ordinals of a partition rise from entry to entry; this relay never writes another order.
      for mark in marks {
        let index = Int(mark.partition.number)
        guard lasts[index] < mark.ordinal else {
          throw WrongNumber(what: "next ordinal", number: mark.ordinal.column)
        }
        lasts[index] = mark.ordinal
      }
      tail.withLock { $0.add(marks, seq: seq) }
    }
  }

  /// The numbers that a row may have. A higher number would leave no room for later rows, so this
  /// relay never writes one.
  private static let rowNumbers = 0...Int64.max / 2 - 1

  private func onQueue<Value: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await withCheckedContinuation { continuation in
      queue.asyncWriteWithoutTransaction { database in
        let result = Result { () throws(StoreError) in try body(database) }
        continuation.resume(returning: result)
      }
    }.get()
  }
}

extension SQLiteStore {
  package func append(
    _ entries: [JournalEntry], leases: [Lease]
  ) async throws(StoreError) {
    guard !entries.isEmpty else { return }
    let partitions = Set(entries.map(\.partition))
    let result = journal.append(entries) { self.refusal(to: partitions, leases) }
    try settle(result).get()
  }

  package func journal(
    after place: JournalPlace?, beyond cursors: [PartitionID: Ordinal], limit: Int
  ) async throws(StoreError) -> JournalPart {
    try await journal.part(after: place, beyond: cursors, limit: limit)
  }
}
