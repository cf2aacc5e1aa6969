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
    let places = try rows(
      """
      SELECT cursor, forgotten, restored, stopped, epoch, expired, time
      FROM partitions WHERE id = ?
      """
    ).first
    var tables = PartitionTables(
      id: partition, cursor: try places.map { try Ordinal(checked: $0[0]) } ?? .zero)
    let forgotten = try places.map { try Ordinal(checked: $0[1]) } ?? .zero
    tables.isRestoreProven = places.map { $0[2] as Bool } ?? false
    tables.expired = places.map { Position(column: $0[5]) } ?? .zero
    tables.time = places.map { Instant(milliseconds: $0[6]) } ?? .zero
    // The claim has raised the epoch already: the stopped life had the epoch before this one.
    if let places { tables.wasStopped = places[3] != 0 && (places[3] as Int64) &+ 1 == places[4] }
    tables.subscriptions = try rows(
      "SELECT body FROM subscriptions WHERE partition = ? ORDER BY serial"
    ).map { try SubscriptionRow(blob: [UInt8]($0[0] as Data)) }
    tables.devices = try DeviceReader.rows(
      in: database, where: "partition = ? ORDER BY key", [Int(partition.number)])
    tables.grants = try grants()
    tables.revocations = try revocations()
    tables.members = try members()
    tables.remembered = try rows("SELECT items FROM remembered WHERE partition = ? ORDER BY last")
      .flatMap { try RememberedList(blob: [UInt8]($0[0] as Data)).items }
      .filter { $0.ordinal > forgotten }
    tables.outbox = try OutboxTable(database: database, source: partition).all()
    tables.heard = try rows(
      "SELECT source, serial FROM heard WHERE partition = ? ORDER BY source, track"
    ).map { Heard(source: try PartitionID(column: $0[0]), serial: Position(column: $0[1])) }
    tables.fanOuts = try fanOuts()
    tables.numbers = try numbers()
    tables.interests = try interests()
    tables.badges = try badges()
    return tables
  }

  private func grants() throws -> [GrantRow] {
    try rows("SELECT key, floor FROM grants WHERE partition = ? ORDER BY key").map { row in
      var reader = StoreKeyReader(row[0] as Data)
      let key = try reader.grant()
      return GrantRow(
        scope: key.scope, zone: key.zone, participant: key.participant, isActive: true,
        floor: Position(column: row[1]))
    }
  }

  private func revocations() throws -> [RevocationRow] {
    try rows("SELECT key, last FROM revocations WHERE partition = ? ORDER BY key").map { row in
      var reader = StoreKeyReader(row[0] as Data)
      let (scope, zone) = try reader.zone()
      return RevocationRow(scope: scope, zone: zone, last: Position(column: row[1]))
    }
  }

  private func members() throws -> [MemberRow] {
    try rows("SELECT key, serial FROM members WHERE partition = ? ORDER BY serial").map { row in
      var reader = StoreKeyReader(row[0] as Data)
      return MemberRow(key: try reader.grant(), serial: Position(column: row[1]))
    }
  }

  private func numbers() throws -> [NumbersRow] {
    try rows("SELECT key, body FROM numbers WHERE partition = ? ORDER BY key").map { row in
      var reader = StoreKeyReader(row[0] as Data)
      let (scope, zone) = try reader.zone()
      return NumbersRow(
        scope: scope, zone: zone, numbers: try SequenceTracker(blob: [UInt8](row[1] as Data)))
    }
  }

  private func fanOuts() throws -> [FanOut] {
    try rows(
      """
      SELECT body, cursor, turn FROM fan_outs LEFT JOIN fan_out_moves USING (partition, origin)
      WHERE partition = ? ORDER BY origin
      """
    ).map { row in
      var out = try FanOut(blob: [UInt8](row[0] as Data))
      if let cursor: Int64 = row[1] {
        out.cursor = Position(column: cursor)
        out.turn = (row[2] as Int64?).map { Position(column: $0) }
      }
      return out
    }
  }

  private func interests() throws -> [InterestRow] {
    try rows(
      """
      SELECT scope, database, type, source, fields FROM interests WHERE partition = ?
      ORDER BY scope, database, type, source
      """
    ).map { row in
      var reader = StoreKeyReader(row[0] as Data)
      let number: Int = row[1]
      guard let database = RelayCore.Database(rawValue: UInt8(clamping: number)) else {
        throw StoreError.damaged(file: "relay.db", "an interest in database \(number)")
      }
      let key = Interest.Key(
        scope: try reader.scope(), database: database,
        recordType: String(decoding: row[2] as Data, as: UTF8.self))
      return InterestRow(
        source: try PartitionID(column: row[3]),
        interest: Interest(
          key: key, fields: try Interest.Fields(blob: [UInt8](row[4] as Data))))
    }
  }

  private func badges() throws -> [BadgeRow] {
    try rows("SELECT key, count FROM badges WHERE partition = ? ORDER BY key").map { row in
      var reader = StoreKeyReader(row[0] as Data)
      let key = try reader.badge()
      return BadgeRow(scope: key.scope, user: key.user, topic: key.topic, count: row[1])
    }
  }

  private func rows(_ sql: String) throws -> [Row] {
    try Row.fetchAll(
      try database.cachedStatement(sql: sql), arguments: [Int(partition.number)])
  }
}
