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
    try database.run(
      """
      INSERT INTO subscriptions (key, partition, serial, body) VALUES (?, ?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET serial = excluded.serial, body = excluded.body
      """, [StoreKey(row.key).data, number, row.serial.column, Data(row.blob)])
  }

  func save(_ row: GrantRow) throws {
    let key = StoreKey(scope: row.scope, zone: row.zone, participant: row.participant)
    try set("floor", of: "grants", at: key, to: row.isActive ? row.floor.column : nil)
  }

  func save(_ row: RevocationRow) throws {
    let key = StoreKey(scope: row.scope, zone: row.zone)
    try set("last", of: "revocations", at: key, to: row.last > .zero ? row.last.column : nil)
  }

  func save(_ row: MemberRow) throws {
    try set("serial", of: "members", at: StoreKey(row.key), to: row.serial.column)
  }

  func save(_ row: NumbersRow) throws {
    let key = StoreKey(scope: row.scope, zone: row.zone)
    let body = row.numbers.isEmpty ? nil : Data(row.numbers.blob)
    try set("body", of: "numbers", at: key, to: body)
  }

  func save(_ row: BadgeRow) throws {
    try set("count", of: "badges", at: StoreKey(row.key), to: row.count > 0 ? row.count : nil)
  }

  /// Writes a row of a table that has one column beside the key and the partition; `nil` removes
  /// the row.
  private func set(
    _ column: String, of table: String, at key: StoreKey, to value: (any DatabaseValueConvertible)?
  ) throws {
    guard let value else { return try remove(key, from: table) }
    try database.run(
      "INSERT OR REPLACE INTO \(table) (key, partition, \(column)) VALUES (?, ?, ?)",
      [key.data, number, value])
  }

  func remove(_ key: StoreKey, from table: String) throws {
    try database.run("DELETE FROM \(table) WHERE key = ?", [key.data])
  }

  /// Writes one row for all remembered ids of a fold, so that a burst of changes costs the fold
  /// little.
  func save(_ remembered: [Remembered]) throws {
    guard let last = remembered.last else { return }
    try database.run(
      "INSERT OR REPLACE INTO remembered (partition, last, items) VALUES (?, ?, ?)",
      [number, last.ordinal.column, Data(RememberedList(items: remembered).blob)])
  }

  func forget(through ordinal: Ordinal) throws {
    guard ordinal > .zero else { return }
    try database.run(
      "UPDATE partitions SET forgotten = max(forgotten, ?) WHERE id = ?",
      [ordinal.column, number])
    try database.run(
      "DELETE FROM remembered WHERE partition = ? AND last <= ?", [number, ordinal.column])
  }

  func save(_ heard: Heard) throws {
    try database.run(
      """
      INSERT INTO heard (partition, source, track, serial) VALUES (?, ?, ?, ?)
      ON CONFLICT (partition, source, track) DO UPDATE SET serial = max(serial, excluded.serial)
      """,
      [
        number, Int(heard.source.number), Int(heard.hearing.track.number), heard.serial.column,
      ])
  }

  func begin(_ fanOut: FanOut) throws {
    try database.run(
      "INSERT OR REPLACE INTO fan_outs (partition, origin, body) VALUES (?, ?, ?)",
      [number, fanOut.origin.column, Data(fanOut.blob)])
  }

  func move(_ move: FanOut) throws {
    try database.run(
      """
      INSERT OR REPLACE INTO fan_out_moves (partition, origin, cursor, turn) VALUES (?, ?, ?, ?)
      """, [number, move.origin.column, move.cursor.column, move.turn?.column])
  }

  func end(fanOut origin: Ordinal) throws {
    for table in ["fan_outs", "fan_out_moves"] {
      try database.run(
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
      return try database.run(
        """
        DELETE FROM interests
        WHERE partition = ? AND scope = ? AND database = ? AND type = ? AND source = ?
        """, place)
    }
    try database.run(
      """
      INSERT OR REPLACE INTO interests (partition, scope, database, type, source, fields)
      VALUES (?, ?, ?, ?, ?, ?)
      """, place + [Data(row.interest.fields.blob)])
  }

  func proveRestore(_ isProven: Bool) throws {
    try database.run("UPDATE partitions SET restored = ? WHERE id = ?", [isProven ? 1 : 0, number])
  }

  /// Keeps the position at which an operator expired all tokens. All clients get new tokens after
  /// that, so a restore that came before this position needs no further expiry.
  func save(_ expiry: FeedExpiry) throws {
    guard expiry.of == TokenExpiry() else { return }
    try database.run(
      "UPDATE partitions SET expired = ? WHERE id = ?", [expiry.floor.column, number])
  }

  /// - Returns: false if a later cut has been folded already; this cut then changes nothing.
  func advance(to cursor: Ordinal, at time: Instant) throws -> Bool {
    try database.run(
      "UPDATE partitions SET cursor = ?1, time = max(time, ?3) WHERE id = ?2 AND cursor <= ?1",
      [cursor.column, number, time.milliseconds])
    return database.changesCount > 0
  }
}
