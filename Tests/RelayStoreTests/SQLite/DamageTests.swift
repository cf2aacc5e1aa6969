import GRDB
import RelayCore
import RelayEngine
import Testing

@testable import RelayStore

/// Numbers that no daemon writes, in files that SQLite finds whole. A start refuses the file with
/// an error that names the file. A start must not trap, because each further start would trap too.
@Suite struct DamageTests {
  private static let relay = [
    "INSERT INTO partitions VALUES (64, 1, 0, 0, 0, 0, 0, 0)",
    "INSERT INTO partitions VALUES (-1, 1, 0, 0, 0, 0, 0, 0)",
    "UPDATE partitions SET epoch = -1 WHERE id = 3",
    "UPDATE partitions SET cursor = -1 WHERE id = 3",
    "UPDATE partitions SET cursor = 9223372036854775807 WHERE id = 3",
    "UPDATE partitions SET forgotten = -1 WHERE id = 3",
    "UPDATE eras SET partition = 300 WHERE partition = 3",
    "UPDATE eras SET first = -1 WHERE partition = 3",
    "INSERT INTO heard VALUES (3, 256, 0, 1)",
    "INSERT INTO heard VALUES (3, -1, 0, 1)",
    "INSERT INTO outbox VALUES (3, 1, 0, x'0103')",
    "INSERT INTO interests VALUES (3, x'63000002', 1, x'54', 300, x'0101')",
    "INSERT INTO sqlite_sequence VALUES ('feedback', -1)",
    "INSERT INTO feedback_scopes VALUES (x'63000002', 0, 0, -1)",
  ]

  private static let journal = [
    "UPDATE meta SET deleted = 9223372036854775807",
    "UPDATE meta SET deleted = -1",
    "UPDATE journal SET seq = 9223372036854775807",
    "UPDATE journal SET seq = 4611686018427387903",
    "INSERT INTO journal SELECT seq + 1, partitions, entries FROM journal",
  ]

  @Test(arguments: relay)
  func `a number out of range in relay.db is refused as damage`(sql: String) async throws {
    try await refuses(sql, in: "relay.db")
  }

  @Test(arguments: journal)
  func `a number out of range in journal.db is refused as damage`(sql: String) async throws {
    try await refuses(sql, in: "journal.db")
  }

  /// The epoch of a clean stop may be any number; it is only compared with the next epoch.
  @Test func `a start accepts the mark of a clean stop with any epoch`() async throws {
    let home = try await written()
    try spoil("UPDATE partitions SET stopped = 9223372036854775807 WHERE id = 3", home, "relay.db")
    let tables = try await start(home)
    #expect(tables.allSatisfy { !$0.wasStopped })
  }

  /// Within a text a byte 1 follows each zero byte. The store never writes another byte there. A
  /// reader that accepted another byte would read a wrong key.
  @Test(arguments: [UInt8(2), 0xa9, 0xff])
  func `a key with an invalid escape after a zero byte is refused`(mark: UInt8) throws {
    var whole = StoreKeyReader([0x41, 0, 1, 0x42, 0, 0])
    #expect(try whole.text() == "A\u{0}B")
    var spoilt = StoreKeyReader([0x41, 0, mark, 0x42, 0, 0])
    #expect(throws: StoreKeyReader.Malformed.self) { try spoilt.text() }
  }

  private func refuses(_ sql: String, in name: String) async throws {
    let home = try await written()
    try spoil(sql, home, name)
    do {
      _ = try await start(home)
      Issue.record("nothing was refused")
    } catch let error as StoreError {
      #expect(error.code == .corrupt)
      #expect(error.message.contains("/\(name) is damaged"), "\(error.message)")
    }
  }

  /// A store with an entry in its journal, closed.
  private func written() async throws -> SQLiteHome {
    let home = try SQLiteHome()
    let store = try home.store()
    let leases = try await store.claim(eras: eras)
    let entry = JournalEntry(
      partition: PartitionID(3), ordinal: Ordinal(1), at: Instant(milliseconds: 1), fact: .tick)
    try await store.append([entry], leases: leases)
    await store.close()
    return home
  }

  private func spoil(_ sql: String, _ home: SQLiteHome, _ name: String) throws {
    let queue = try DatabaseQueue(path: home.path(name))
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try queue.close()
  }

  /// Opens the store, reads what a start of the daemon reads, and reads feedback for the first
  /// time.
  private func start(_ home: SQLiteHome) async throws -> [PartitionTables] {
    let store = try home.store()
    do {
      var tables: [PartitionTables] = []
      for lease in try await store.claim(eras: eras) {
        tables.append(try await store.load(lease))
      }
      _ = try await store.feedback(FeedbackQuery(after: .zero, limit: 10))
      _ = try await store.feedbackTaken(in: Scope(container: "c", environment: .development))
      await store.close()
      return tables
    } catch {
      await store.close()
      throw error
    }
  }

  private var eras: [PartitionID: UInt64] {
    Dictionary(uniqueKeysWithValues: PartitionID.all.map { ($0, 100 + UInt64($0.number)) })
  }
}
