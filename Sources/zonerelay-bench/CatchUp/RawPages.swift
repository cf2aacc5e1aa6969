import Foundation
import GRDBSQLite

/// Reads the rows of a page with SQLite alone, from the daemon's own file. No way to serve these
/// rows can cost less.
final class RawPages {
  private let database: OpaquePointer
  private let statement: OpaquePointer
  private let rows: Int
  private let page: Int
  private var feed: Int64 = 0
  private static let columns: Int32 = 11

  /// - Parameters:
  ///   - rows: the number of rows in the largest feed, which is the feed that is read.
  ///   - page: how many rows are read at a time.
  init(_ path: String, rows: Int, page: Int) throws {
    (self.rows, self.page) = (rows, page)
    var database: OpaquePointer?
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &database, flags, nil) == SQLITE_OK, let database else {
      throw BenchError("\(path) cannot be opened")
    }
    self.database = database
    statement = try Self.prepare(
      """
      SELECT subject, position, born, died, reborn, device, stranger, sequence, time, detail, state
      FROM entries WHERE feed = ? AND gone = 0 AND position > ? ORDER BY position LIMIT ?
      """, in: database)
    let find = try Self.prepare(
      "SELECT feed FROM entries GROUP BY feed ORDER BY count(*) DESC LIMIT 1", in: database)
    defer { sqlite3_finalize(find) }
    guard sqlite3_step(find) == SQLITE_ROW else { throw BenchError("\(path) has no entries") }
    feed = sqlite3_column_int64(find, 0)
  }

  deinit {
    sqlite3_finalize(statement)
    sqlite3_close(database)
  }

  private static func prepare(_ text: String, in database: OpaquePointer) throws -> OpaquePointer {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(database, text, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw BenchError("SQLite refuses a query: \(String(cString: sqlite3_errmsg(database)))")
    }
    return statement
  }

  /// Reads `pages` pages. At the end of the feed, the next page is the first page again.
  ///
  /// - Returns: the CPU time for each page, in microseconds.
  func read(pages: Int) throws -> Double {
    let before = try CPUTime.ofThisProcess()
    var (place, found, bytes): (Int64, Int, Int32) = (0, 0, 0)
    for _ in 0..<pages {
      let first = found
      sqlite3_bind_int64(statement, 1, feed)
      sqlite3_bind_int64(statement, 2, place)
      sqlite3_bind_int64(statement, 3, Int64(page))
      while sqlite3_step(statement) == SQLITE_ROW {
        for column in 0..<Self.columns where sqlite3_column_blob(statement, column) != nil {
          bytes &+= sqlite3_column_bytes(statement, column)
        }
        place = sqlite3_column_int64(statement, 1)
        found += 1
      }
      sqlite3_reset(statement)
      guard found - first == page else { throw BenchError("a page has \(found - first) rows") }
      if found.isMultiple(of: rows) { place = 0 }
    }
    guard bytes != 0 else { throw BenchError("the pages are empty") }
    return (try CPUTime.ofThisProcess() - before).each(of: pages)
  }
}
