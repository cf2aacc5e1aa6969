import Foundation
import GRDB

/// Recognises a page that the disk could not read.
///
/// SQLite reports such a page as damaged (EIO becomes SQLITE_CORRUPT, by way of
/// SQLITE_IOERR_CORRUPTFS), because some file systems answer EIO for a damaged block. But the next
/// read may succeed, so a loose cable must not force an operator to restore a backup.
enum DiskError {
  /// Runs one read wholly on the calling thread, and reports a page that the disk could not read as
  /// a disk error.
  ///
  /// - Throws: what `body` throws; for a page that the disk could not read, SQLITE_IOERR_READ.
  static func told<Value>(_ body: () throws -> Value) throws -> Value {
    // SQLite does not keep EIO, but the thread keeps the `errno` of its last failed call.
    errno = 0
    do {
      return try body()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT && errno == EIO {
      throw DatabaseError(resultCode: .SQLITE_IOERR_READ, message: "disk I/O error")
    }
  }
}
