import Foundation
import GRDB
import RelayCore
import RelayEngine

/// Writes one partition's rows into the tables, within one fold.
struct TableWriter {
  let database: GRDB.Database
  let partition: PartitionID

  private var number: Int { Int(partition.number) }

  func save(_ row: SubscriptionRow) throws {
    try run(
      """
      INSERT INTO subscriptions (key, partition, serial, body) VALUES (?, ?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET serial = excluded.serial, body = excluded.body
      """, [StoreKey(row.key).data, number, row.serial.column, Data(row.blob)])
  }

  func remove(_ key: SubscriptionKey) throws {
    try run("DELETE FROM subscriptions WHERE key = ?", [StoreKey(key).data])
  }

  func remove(_ key: DeviceKey) throws {
    try run("DELETE FROM devices WHERE key = ?", [StoreKey(key).data])
  }

  func save(_ row: GrantRow) throws {
    let key = StoreKey(scope: row.scope, zone: row.zone, participant: row.participant).data
    guard row.isActive else { return try run("DELETE FROM grants WHERE key = ?", [key]) }
    try run(
      """
      INSERT INTO grants (key, partition, floor) VALUES (?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET floor = excluded.floor
      """, [key, number, row.floor.column])
  }

  func save(_ row: RevocationRow) throws {
    let key = StoreKey(scope: row.scope, zone: row.zone).data
    guard row.last > .zero else { return try run("DELETE FROM revocations WHERE key = ?", [key]) }
    try run(
      "INSERT OR REPLACE INTO revocations (key, partition, last) VALUES (?, ?, ?)",
      [key, number, row.last.column])
  }

  func save(_ row: MemberRow) throws {
    try run(
      """
      INSERT INTO members (key, partition, serial) VALUES (?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET serial = excluded.serial
      """, [row.key.column, number, row.serial.column])
  }

  func remove(_ key: MemberRow.Key) throws {
    try run("DELETE FROM members WHERE key = ?", [key.column])
  }

  /// Writes one row for all remembered ids of a fold, so that a burst of changes costs the fold
  /// little.
  func save(_ remembered: [Remembered]) throws {
    guard let last = remembered.last else { return }
    try run(
      "INSERT OR REPLACE INTO remembered (partition, last, items) VALUES (?, ?, ?)",
      [number, last.ordinal.column, Data(RememberedList(remembered).blob)])
  }

  func forget(through ordinal: Ordinal) throws {
    guard ordinal > .zero else { return }
    try run(
      "UPDATE partitions SET forgotten = max(forgotten, ?) WHERE id = ?",
      [ordinal.column, number])
    try run(
      "DELETE FROM remembered WHERE partition = ? AND last <= ?", [number, ordinal.column])
  }

  func save(_ heard: Heard) throws {
    try run(
      """
      INSERT INTO heard (partition, source, track, serial) VALUES (?, ?, ?, ?)
      ON CONFLICT (partition, source, track) DO UPDATE SET serial = max(serial, excluded.serial)
      """,
      [
        number, Int(heard.source.number), Int(heard.hearing.track.number), heard.serial.column,
      ])
  }

  func save(_ row: NumbersRow) throws {
    let key = StoreKey(scope: row.scope, zone: row.zone).data
    guard !row.numbers.isEmpty else { return try run("DELETE FROM numbers WHERE key = ?", [key]) }
    try run(
      "INSERT OR REPLACE INTO numbers (key, partition, body) VALUES (?, ?, ?)",
      [key, number, Data(row.numbers.blob)])
  }

  func begin(_ fanOut: FanOut) throws {
    try run(
      "INSERT OR REPLACE INTO fan_outs (partition, origin, body) VALUES (?, ?, ?)",
      [number, fanOut.origin.column, Data(fanOut.blob)])
  }

  func move(_ move: FanOut) throws {
    try run(
      """
      INSERT OR REPLACE INTO fan_out_moves (partition, origin, cursor, turn) VALUES (?, ?, ?, ?)
      """, [number, move.origin.column, move.cursor.column, move.turn?.column])
  }

  func end(fanOut origin: Ordinal) throws {
    for table in ["fan_outs", "fan_out_moves"] {
      try run(
        "DELETE FROM \(table) WHERE partition = ? AND origin = ?", [number, origin.column])
    }
  }

  func save(_ row: InterestRow) throws {
    let key = row.interest.key
    let place: StatementArguments = [
      number, StoreKey(scope: key.scope).data, Int(key.database.rawValue),
      Data(key.recordType.utf8), Int(row.source.number),
    ]
    guard row.interest.fields != .ended else {
      return try run(
        """
        DELETE FROM interests
        WHERE partition = ? AND scope = ? AND database = ? AND type = ? AND source = ?
        """, place)
    }
    try run(
      """
      INSERT OR REPLACE INTO interests (partition, scope, database, type, source, fields)
      VALUES (?, ?, ?, ?, ?, ?)
      """, place + [Data(row.interest.fields.blob)])
  }

  func save(_ badge: BadgeRow) throws {
    let key = StoreKey(badge.key).data
    guard badge.count > 0 else { return try run("DELETE FROM badges WHERE key = ?", [key]) }
    try run(
      """
      INSERT INTO badges (key, partition, count) VALUES (?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET count = excluded.count
      """, [key, number, badge.count])
  }

  func proveRestore(_ isProven: Bool) throws {
    try run("UPDATE partitions SET restored = ? WHERE id = ?", [isProven ? 1 : 0, number])
  }

  /// Keeps the position at which an operator expired all tokens. All clients get new tokens after
  /// that, so a restore before this position needs no further expiry.
  func save(_ expiry: FeedExpiry) throws {
    guard expiry.of == TokenExpiry() else { return }
    try run("UPDATE partitions SET expired = ? WHERE id = ?", [expiry.floor.column, number])
  }

  /// - Returns: false if a later cut has been folded already; this cut then changes nothing.
  func advance(to cursor: Ordinal, at time: Instant) throws -> Bool {
    try run(
      "UPDATE partitions SET cursor = ?1, time = max(time, ?3) WHERE id = ?2 AND cursor <= ?1",
      [cursor.column, number, time.milliseconds])
    return database.changesCount > 0
  }

  private func run(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}

extension MemberRow.Key {
  var column: Data { StoreKey(scope: scope, zone: zone, participant: participant).data }
}
