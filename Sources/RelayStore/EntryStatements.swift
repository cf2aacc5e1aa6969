import Foundation
import GRDB
import GRDBSQLite
import RelayCore
import RelayEngine

/// The two statements that a fold runs for every subject, on SQLite's own calls.
///
/// GRDB's rows and arguments box every value: of a fold's time three quarters went there (measured
/// by a profile of ingest at 100 events a request; docs/performance.md). All else stays with GRDB,
/// which also prepares and keeps these statements.
struct EntryStatements {
  private let database: GRDB.Database
  private let find: OpaquePointer
  private let save: OpaquePointer

  init(_ database: GRDB.Database) throws {
    self.database = database
    find = try database.cachedStatement(
      sql: "SELECT \(EntryRow.columns) FROM entries WHERE feed = ? AND subject = ?"
    ).sqliteStatement
    save = try database.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO entries
          (feed, subject, position, state, gone, born, died, reborn, device, stranger, sequence,
           time, detail, kept, aging)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    ).sqliteStatement
  }

  func entry(of feed: Int64, _ key: [UInt8], subject: Subject) throws -> Entry? {
    defer { reset(find) }
    sqlite3_bind_int64(find, 1, feed)
    bind(key, at: 2, of: find)
    guard try step(find) else { return nil }
    let state = UInt8(exactly: sqlite3_column_int64(find, 1)).flatMap(Life.State.init(rawValue:))
    guard let state else { throw StoreKeyReader.Malformed() }
    let life = Life(
      position: position(0), state: state, born: position(2), died: position(3),
      reborn: position(4), device: try device(5), foreign: position(6),
      sequence: isNull(7) ? nil : sqlite3_column_int64(find, 7),
      time: Instant(milliseconds: sqlite3_column_int64(find, 8)))
    return Entry(subject: subject, life: life, detail: try Detail(blob: bytes(9)))
  }

  /// - Parameter kept: the relay's time at the fold.
  func save(_ entry: Entry, of feed: Int64, _ key: [UInt8], kept: Instant) throws {
    defer { reset(save) }
    let life = entry.life
    sqlite3_bind_int64(save, 1, feed)
    bind(key, at: 2, of: save)
    sqlite3_bind_int64(save, 3, life.position.column)
    sqlite3_bind_int64(save, 4, Int64(life.state.rawValue))
    sqlite3_bind_int64(save, 5, life.isPresent ? 0 : 1)
    sqlite3_bind_int64(save, 6, life.born.column)
    sqlite3_bind_int64(save, 7, life.died.column)
    sqlite3_bind_int64(save, 8, life.reborn.column)
    if let device = life.device { bind(StoreKey(client: device).bytes, at: 9, of: save) }
    sqlite3_bind_int64(save, 10, life.foreign.column)
    if let sequence = life.sequence { sqlite3_bind_int64(save, 11, sequence) }
    sqlite3_bind_int64(save, 12, life.time.milliseconds)
    bind(entry.detail.blob, at: 13, of: save)
    sqlite3_bind_int64(save, 14, kept.milliseconds)
    if let aging = Aging(entry) { sqlite3_bind_int64(save, 15, Int64(aging.rawValue)) }
    _ = try step(save)
  }

  /// - Returns: whether there is a row.
  private func step(_ statement: OpaquePointer) throws -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      throw DatabaseError(
        resultCode: database.lastErrorCode, message: database.lastErrorMessage)
    }
  }

  /// Every parameter that is not bound again is null.
  private func reset(_ statement: OpaquePointer) {
    sqlite3_reset(statement)
    sqlite3_clear_bindings(statement)
  }

  /// SQLite copies the bytes: they live no longer than this call.
  private func bind(_ bytes: [UInt8], at index: Int32, of statement: OpaquePointer) {
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    guard !bytes.isEmpty else { return _ = sqlite3_bind_zeroblob(statement, index, 0) }
    bytes.withUnsafeBytes {
      _ = sqlite3_bind_blob(statement, index, $0.baseAddress, Int32($0.count), copies)
    }
  }

  private func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(find, column) == SQLITE_NULL
  }

  private func position(_ column: Int32) -> Position {
    Position(column: sqlite3_column_int64(find, column))
  }

  private func bytes(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(find, column) else { return [] }
    return [UInt8](
      UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(find, column))))
  }

  private func device(_ column: Int32) throws -> ClientID? {
    guard !isNull(column) else { return nil }
    var reader = StoreKeyReader(bytes(column))
    return ClientID(Identifier(high: try reader.word(), low: try reader.word()))
  }
}
