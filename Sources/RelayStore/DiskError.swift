import Foundation
import GRDB

/// A page that the disk did not give.
///
/// SQLite reports it as a damaged one (EIO becomes SQLITE_CORRUPT, by way of
/// SQLITE_IOERR_CORRUPTFS), since some file systems answer so for a block that is damaged. But the
/// next read may get the page, and no backup need be restored for a loose cable.
enum DiskError {
  /// One read, on this thread from beginning to end.
  ///
  /// - Throws: what `body` throws; for such a page an error that is no damage.
  static func told<Value>(_ body: () throws -> Value) throws -> Value {
    // SQLite keeps no number of this error, but the thread keeps that of its last failed call.
    errno = 0
    do {
      return try body()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT && errno == EIO {
      throw DatabaseError(resultCode: .SQLITE_IOERR_READ, message: "disk I/O error")
    }
  }
}
