import Foundation
import GRDB
package import RelayCore
package import RelayEngine

extension SQLiteStore {
  package func trim(
    tombstones: Instant, notifications: Instant, feedback: Instant, limit: Int, leases: [Lease]
  ) async throws(StoreError) -> Int {
    let partitions = Set(leases.map(\.partition))
    let result = relay.writeHere { database in
      if let refusal = self.refusal(to: partitions, leases) { throw refusal }
      let trim = Trim(database: database, partitions: partitions)
      var spent = try trim.cleared(limit: limit)
      spent += try trim.aged(.tombstone, before: tombstones, limit: limit - spent)
      spent += try trim.aged(.notification, before: notifications, limit: limit - spent)
      spent += try FeedbackTable(database: database).trim(
        before: feedback, limit: limit - spent)
      return spent
    }
    return try settle(result).get()
  }
}

/// One step of trimming, within one transaction.
struct Trim {
  let database: GRDB.Database
  let partitions: Set<PartitionID>

  /// The partitions' numbers for SQL, sorted, so that the SQL is the same each time and its cached
  /// statement is used.
  private var numbers: String {
    partitions.map(\.number).sorted().map { "\($0)" }.joined(separator: ",")
  }

  /// SQL for the feeds that may still have rows at or below their `cleared`. CROSS JOIN keeps
  /// SQLite from walking all feeds.
  var clearing: String {
    """
    SELECT feeds.id, feeds.cleared
    FROM clearing CROSS JOIN feeds ON feeds.id = clearing.feed
    WHERE feeds.partition IN (\(numbers)) ORDER BY clearing.feed LIMIT ?
    """
  }

  /// Removes rows at or below their feed's `cleared`. Readers cannot see them, so no floor changes.
  ///
  /// - Returns: the number of removed rows, plus one for each feed without such rows, because the
  ///   search in that feed costs work too.
  func cleared(limit: Int) throws -> Int {
    var spent = 0
    for row in try database.rows(clearing, [limit]) where spent < limit {
      let feed: Int64 = row[0]
      let left = limit - spent
      let subjects = try database.rows(
        """
        SELECT subject FROM entries WHERE feed = ?1 AND gone = 0 AND position <= ?2
        UNION ALL
        SELECT subject FROM entries WHERE feed = ?1 AND gone = 1 AND position <= ?2
        LIMIT ?3
        """, [feed, row[1] as Int64, left])
      for subject in subjects { try FeedWriter.remove(subject.data(0), of: feed, in: database) }
      if !subjects.isEmpty { try settle(feed, removed: subjects.count, floor: .zero) }
      spent += max(1, subjects.count)
      guard subjects.count < left else { break }
      try database.run("DELETE FROM clearing WHERE feed = ?", [feed])
    }
    return spent
  }

  /// Removes entries that were written before `instant`, oldest first. Raises each feed's floor to
  /// the highest position of its removed entries, because a page after an older token could not
  /// show that these entries were removed.
  func aged(_ aging: Aging, before instant: Instant, limit: Int) throws -> Int {
    guard limit > 0 else { return 0 }
    let rows = try Row.fetchAll(
      database,
      sql: """
        SELECT entries.feed, entries.subject, entries.position
        FROM entries JOIN feeds ON feeds.id = entries.feed
        WHERE entries.aging = ? AND entries.kept < ? AND feeds.partition IN (\(numbers))
        ORDER BY entries.kept LIMIT ?
        """, arguments: [aging.rawValue, instant.milliseconds, limit])
    var gone: [Int64: (count: Int, floor: Position)] = [:]
    for row in rows {
      let feed: Int64 = row[0]
      try FeedWriter.remove(row[1], of: feed, in: database)
      let known = gone[feed] ?? (0, .zero)
      gone[feed] = (known.count + 1, max(known.floor, Position(column: row[2])))
    }
    for (feed, sum) in gone { try settle(feed, removed: sum.count, floor: sum.floor) }
    return gone.values.reduce(0) { $0 + $1.count }
  }

  private func settle(_ feed: Int64, removed: Int, floor: Position) throws {
    try database.run(
      "UPDATE feeds SET count = count - ?1, floor = max(floor, ?2) WHERE id = ?3",
      [removed, floor.column, feed])
  }
}
