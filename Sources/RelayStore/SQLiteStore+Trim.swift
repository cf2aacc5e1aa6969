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
      var removed = try trim.cleared(limit: limit)
      removed += try trim.aged(.tombstone, before: tombstones, limit: limit - removed)
      removed += try trim.aged(.notification, before: notifications, limit: limit - removed)
      removed += try FeedbackTable(database: database).trim(
        before: feedback, limit: limit - removed)
      return removed
    }
    return try settle(result).get()
  }
}

/// One slice of trimming, within one transaction.
struct Trim {
  let database: GRDB.Database
  let partitions: Set<PartitionID>

  private var numbers: String { partitions.map { "\($0.number)" }.joined(separator: ",") }

  /// Removes rows at or below their feed's `cleared`. They are invisible already: no floor moves.
  func cleared(limit: Int) throws -> Int {
    var removed = 0
    for row in try Row.fetchAll(
      database,
      sql: """
        SELECT feeds.id, feeds.cleared
        FROM clearing JOIN feeds ON feeds.id = clearing.feed
        WHERE feeds.partition IN (\(numbers)) ORDER BY feeds.id
        """)
    {
      let feed: Int64 = row[0]
      let left = limit - removed
      let subjects = try Data.fetchAll(
        database,
        sql: """
          SELECT subject FROM entries WHERE feed = ?1 AND gone = 0 AND position <= ?2
          UNION ALL
          SELECT subject FROM entries WHERE feed = ?1 AND gone = 1 AND position <= ?2
          LIMIT ?3
          """, arguments: [feed, row[1] as Int64, left])
      for subject in subjects { try FeedWriter.remove(subject, of: feed, in: database) }
      try settle(feed, removed: subjects.count, floor: .zero)
      removed += subjects.count
      guard subjects.count < left else { break }
      try database.execute(sql: "DELETE FROM clearing WHERE feed = ?", arguments: [feed])
    }
    return removed
  }

  /// Removes what was kept before an instant, oldest first, and raises each feed's floor to it: a
  /// token from before would miss that it went.
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
    try database.cachedStatement(
      sql: "UPDATE feeds SET count = count - ?1, floor = max(floor, ?2) WHERE id = ?3"
    ).execute(arguments: [removed, floor.column, feed])
  }
}
