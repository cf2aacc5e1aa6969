import Foundation
import GRDB
package import RelayCore
package import RelayEngine

extension SQLiteStore {
  package func load(_ lease: Lease) async throws(StoreError) -> PartitionTables {
    if let refusal = refusal(to: [lease.partition], [lease]) { throw refusal }
    return try await relay.read { try TableReader(database: $0, partition: lease.partition).all() }
  }
}

/// Reads one partition's tables within one snapshot.
struct TableReader {
  let database: GRDB.Database
  let partition: PartitionID

  func all() throws -> PartitionTables {
    var tables = PartitionTables(id: partition)
    var forgotten = Ordinal.zero
    let places = try rows(
      """
      SELECT cursor, forgotten, restored, stopped, epoch, expired, time
      FROM partitions WHERE id = ?
      """)
    for row in places {
      tables.cursor = try Ordinal(checked: row[0])
      forgotten = try Ordinal(checked: row[1])
      tables.isRestoreProven = row[2]
      // The claim has already raised the epoch by one, so the life that stopped had an epoch lower
      // by one.
      tables.wasStopped = row[3] != 0 && (row[3] as Int64) &+ 1 == row[4]
      tables.expired = Position(column: row[5])
      tables.time = Instant(milliseconds: row[6])
    }
    tables.subscriptions = try rows(
      "SELECT body FROM subscriptions WHERE partition = ? ORDER BY serial"
    ).map { try SubscriptionRow(blob: $0.bytes(0)) }
    tables.devices = try DeviceReader.rows(
      in: database, where: "partition = ? ORDER BY key", [Int(partition.number)])
    tables.remembered = try rows("SELECT items FROM remembered WHERE partition = ? ORDER BY last")
      .flatMap { try RememberedList(blob: $0.bytes(0)).items }
      .filter { $0.ordinal > forgotten }
    tables.badges = try rows("SELECT key, count FROM badges WHERE partition = ? ORDER BY key")
      .map { row in
        let key = try row.key(0) { try $0.badge() }
        return BadgeRow(scope: key.scope, user: key.user, topic: key.topic, count: row[1])
      }
    try readZones(into: &tables)
    try readMessages(into: &tables)
    return tables
  }

  private func readZones(into tables: inout PartitionTables) throws {
    tables.grants = try rows("SELECT key, floor FROM grants WHERE partition = ? ORDER BY key")
      .map { row in
        let key = try row.key(0) { try $0.grant() }
        return GrantRow(
          scope: key.scope, zone: key.zone, participant: key.participant, isActive: true,
          floor: Position(column: row[1]))
      }
    tables.revocations = try rows(
      "SELECT key, last FROM revocations WHERE partition = ? ORDER BY key"
    ).map { row in
      let (scope, zone) = try row.key(0) { try $0.zone() }
      return RevocationRow(scope: scope, zone: zone, last: Position(column: row[1]))
    }
    tables.members = try rows("SELECT key, serial FROM members WHERE partition = ? ORDER BY serial")
      .map { row in
        MemberRow(key: try row.key(0) { try $0.grant() }, serial: Position(column: row[1]))
      }
    tables.numbers = try rows("SELECT key, body FROM numbers WHERE partition = ? ORDER BY key")
      .map { row in
        let (scope, zone) = try row.key(0) { try $0.zone() }
        return NumbersRow(
          scope: scope, zone: zone, numbers: try SequenceTracker(blob: row.bytes(1)))
      }
  }

  private func readMessages(into tables: inout PartitionTables) throws {
    tables.outbox = try OutboxTable(database: database, source: partition).all()
    tables.heard = try rows(
      "SELECT source, serial FROM heard WHERE partition = ? ORDER BY source, track"
    ).map { Heard(source: try PartitionID(column: $0[0]), serial: Position(column: $0[1])) }
    tables.fanOuts = try rows(
      """
      SELECT body, cursor, turn FROM fan_outs LEFT JOIN fan_out_moves USING (partition, origin)
      WHERE partition = ? ORDER BY origin
      """
    ).map { row in
      var out = try FanOut(blob: row.bytes(0))
      if let cursor: Int64 = row[1] {
        out.cursor = Position(column: cursor)
        out.turn = (row[2] as Int64?).map { Position(column: $0) }
      }
      return out
    }
    tables.interests = try rows(
      """
      SELECT scope, database, type, source, fields FROM interests WHERE partition = ?
      ORDER BY scope, database, type, source
      """
    ).map { row in
      let number: Int = row[1]
      guard let database = RelayCore.Database(rawValue: UInt8(clamping: number)) else {
        throw StoreError.damaged(file: "relay.db", "an interest in database \(number)")
      }
      let key = Interest.Key(
        scope: try row.key(0) { try $0.scope() }, database: database,
        recordType: String(decoding: try row.bytes(2), as: UTF8.self))
      return InterestRow(
        source: try PartitionID(column: row[3]),
        interest: Interest(key: key, fields: try Interest.Fields(blob: row.bytes(4))))
    }
  }

  private func rows(_ sql: String) throws -> [Row] {
    try database.rows(sql, [Int(partition.number)])
  }
}
