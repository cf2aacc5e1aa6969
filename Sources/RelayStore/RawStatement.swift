import GRDB
import GRDBSQLite

/// A statement that runs for each feed, entry or device of a fold or page, by direct calls of
/// SQLite.
///
/// GRDB boxes every value in its rows and arguments, which took three quarters of a fold's time
/// (measured by a profile of ingest at 100 events a request; docs/performance.md). GRDB does
/// everything else, and also prepares and caches these statements.
struct RawStatement {
  private let database: GRDB.Database
  private let handle: OpaquePointer

  init(_ sql: String, in database: GRDB.Database) throws {
    self.database = database
    handle = try database.cachedStatement(sql: sql).sqliteStatement
  }

  /// - Returns: whether there is a row.
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      throw DatabaseError(
        resultCode: database.lastErrorCode, message: database.lastErrorMessage)
    }
  }

  /// Runs a statement that gives no rows, and makes it ready to run again.
  ///
  /// - Parameter numbers: the values of its first parameters.
  func run(_ numbers: Int64...) throws {
    defer { reset() }
    for (index, number) in zip(Int32(1)..., numbers) { bind(number, at: index) }
    _ = try step()
  }

  /// Makes the statement ready to run again and sets all its parameters to null.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  func bind(_ number: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, number) }

  /// SQLite copies the bytes, because they are valid during this call only.
  func bind(_ bytes: [UInt8], at index: Int32) {
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    guard !bytes.isEmpty else { return _ = sqlite3_bind_zeroblob(handle, index, 0) }
    bytes.withUnsafeBytes {
      _ = sqlite3_bind_blob(handle, index, $0.baseAddress, Int32($0.count), copies)
    }
  }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  func number(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func bytes(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    return [UInt8](
      UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }
}
