import Foundation
import GRDB
package import RelayCore
package import RelayEngine

extension SQLiteStore {
  package func fold(
    _ cut: Cut, leases: [Lease]
  ) async throws(StoreError) -> [OutboxRow] {
    let partitions = cut.written(of: leases.map(\.partition))
    let limits = settings.limits
    let journalled = journal.last
    let result = relay.writeHere { database in
      if let refusal = self.refusal(to: partitions, leases) { throw refusal }
      var made: [OutboxRow] = []
      var nearlyFull: [Data: Bool] = [:]
      for part in cut.partitions {
        made += try Self.fold(
          part, at: cut.at, limits: limits, nearlyFull: &nearlyFull, in: database)
      }
      // Only the last cut of a clean stop sets `stopped`.
      for lease in leases where cut.isLast || cut.partitions.isEmpty {
        try database.run(
          "UPDATE partitions SET time = max(time, ?), stopped = iif(?, epoch, stopped) "
            + "WHERE id = ?",
          [cut.at.milliseconds, cut.isLast, Int(lease.partition.number)])
      }
      try Self.note(journalled: journalled, in: database)
      return (made: made, nearlyFull: nearlyFull)
    }
    let (made, nearlyFull) = try settle(result).get()
    note(nearlyFull)
    journal.folded(
      to: Dictionary(cut.partitions.map { ($0.id, $0.cursor) }, uniquingKeysWith: max))
    return made
  }

  private static func fold(
    _ cut: PartitionCut, at: Instant, limits: Limits, nearlyFull: inout [Data: Bool],
    in database: GRDB.Database
  ) throws -> [OutboxRow] {
    let tables = TableWriter(database: database, partition: cut.id)
    guard try tables.advance(to: cut.cursor, at: at) else { return [] }
    let feeds = try FeedWriter(database: database, at: at, limits: limits)
    for feed in cut.feeds {
      if let isNear = try feeds.apply(feed) { nearlyFull[feed.feed.column.data] = isNear }
    }
    for expiry in cut.expiries {
      try ExpiryTable(database: database).expire(expiry, in: cut.id)
      try tables.save(expiry)
    }
    for key in cut.subscriptionsRemoved {
      try tables.remove(StoreKey(key), from: "subscriptions")
    }
    for row in cut.subscriptions { try tables.save(row) }
    for row in cut.grants { try tables.save(row) }
    for row in cut.revocations { try tables.save(row) }
    for key in cut.membersRemoved { try tables.remove(StoreKey(key), from: "members") }
    for row in cut.members { try tables.save(row) }
    try tables.save(cut.remembered)
    try tables.forget(through: cut.forgotten)
    let outbox = OutboxTable(database: database, source: cut.id)
    try outbox.append(cut.outbox)
    try outbox.remove(cut.delivered)
    for item in cut.heard { try tables.save(item) }
    for row in cut.numbers { try tables.save(row) }
    if let isProven = cut.isRestoreProven { try tables.proveRestore(isProven) }
    for fanOut in cut.fanOuts { try tables.begin(fanOut) }
    for move in cut.fanOutsMoved { try tables.move(move) }
    for origin in cut.fanOutsEnded { try tables.end(fanOut: origin) }
    for row in cut.interests { try tables.save(row) }
    for badge in cut.badges { try tables.save(badge) }
    try FeedbackTable(database: database).append(cut.feedback, at: at, limits: limits)
    for key in cut.devicesRemoved { try tables.remove(StoreKey(key), from: "devices") }
    let devices = DeviceWriter(database: database, partition: cut.id)
    let displaced = try cut.devices.compactMap { try devices.save($0) }
    try outbox.append(displaced)
    return displaced
  }
}
