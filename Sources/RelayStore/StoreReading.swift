import Foundation
import GRDB
import RelayCore
import RelayEngine

/// One of a store's files, opened for reading while a daemon may be writing it.
struct StoreReading {
  let path: String
  let queue: DatabaseQueue

  /// - Parameter leavesNothing: if true, the reading makes no `-wal` and `-shm` files where there
  ///   are none. A file without them is then read correctly only while no daemon writes the file,
  ///   so the read must be short.
  /// - Returns: nil if the file does not exist or is empty.
  init?(path: String, leavesNothing: Bool) throws(StoreError) {
    self.path = path
    guard StoreFile.size(path) > 0 else {
      // SQLite would delete a write-ahead log whose database file is missing or empty.
      guard StoreFile.size(path + "-wal") == 0 else {
        throw StoreError(
          .corrupt,
          "\(path) is missing or empty, beside a \(path)-wal that is not; restore a backup of the "
            + "whole directory")
      }
      return nil
    }
    guard access(path, R_OK) == 0 else {
      throw StoreError(
        .unreadable,
        "\(path) cannot be read: \(StoreLock.reason); be root or the user that the daemon runs as")
    }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    let isAtRest = !FileManager.default.fileExists(atPath: path + "-wal")
    let name = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
    queue = try StoreError.reading(path) {
      try DatabaseQueue(
        path: leavesNothing && isAtRest ? "file:\(name)?immutable=1" : path,
        configuration: configuration)
    }
  }

  /// Opens the file, reads once, and closes it.
  func read<Value>(_ body: (GRDB.Database) throws -> Value) throws(StoreError) -> Value {
    try StoreError.reading(path) {
      let value = try queue.inDatabase(body)
      try queue.close()
      return value
    }
  }
}
