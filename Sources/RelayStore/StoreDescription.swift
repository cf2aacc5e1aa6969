import Foundation
import GRDB
package import RelayCore

/// What can be read from a store's files, whether or not a daemon uses the store.
package struct StoreDescription: Hashable, Sendable {
  /// The relay's time at the last fold; nil before the first one.
  package let time: Instant?
  /// True if a daemon has served from the store, so that data in the store depends on the identity
  /// key.
  package let hasServed: Bool

  /// The process that uses the store, or has used it last, as its lock file says; nil if no process
  /// has used it, or if this user may not read the file. The number may belong to another program
  /// by now.
  package static func lastHolder(of directory: String) -> Int32? {
    // A missing file means that no process has used the store.
    let text = try? String(contentsOfFile: "\(directory)/lock", encoding: .utf8)
    return text.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
  }

  /// Reads the description. Takes no lock and changes nothing.
  ///
  /// - Returns: nil if there is no store in the directory.
  /// - Throws: `StoreError` if `relay.db` cannot be read, or is no store of this version.
  package init?(of directory: String) throws(StoreError) {
    let file = StoreFile.relay(in: directory)
    let reading = try StoreReading(path: file.path, leavesNothing: true)
    let found = try reading?.read { database in
      try file.checkForm(database)
      let places = try PartitionPlaces(database)
      let time = try Int64.fetchOne(database, sql: "SELECT max(time) FROM partitions") ?? 0
      return (time: time, hasServed: places.eras.contains { !$0.all.isEmpty })
    }
    guard let found else { return nil }
    time = found.time > 0 ? Instant(milliseconds: found.time) : nil
    hasServed = found.hasServed
  }
}
