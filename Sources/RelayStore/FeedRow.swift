import Foundation
import GRDB
import RelayCore

/// A feed as a row of the feeds' table, within one transaction or snapshot.
struct FeedRow: Equatable {
  var id: Int64
  var state: FeedState
  var count: Int64
  /// How many subjects of the feed are neither deleted nor cleared. Always zero in a feed of
  /// notifications, because the store does not count them there.
  var present: Int64

  /// - Parameter column: the feed's `FeedKey.column`.
  static func find(_ column: StoreKey, in database: GRDB.Database) throws -> FeedRow? {
    let statement = try RawStatement(
      "SELECT id, head, floor, cleared, gap, count, present FROM feeds WHERE key = ?", in: database)
    defer { statement.reset() }
    statement.bind(column.bytes, at: 1)
    guard try statement.step() else { return nil }
    return FeedRow(
      id: statement.number(0),
      state: FeedState(
        head: Position(column: statement.number(1)), floor: Position(column: statement.number(2)),
        cleared: Position(column: statement.number(3)), hasGap: statement.number(4) != 0),
      count: statement.number(5), present: statement.number(6))
  }

  /// True if the feed holds the subject: its entry is present and not cleared.
  func holds(_ subject: Subject, in database: GRDB.Database) throws -> Bool {
    let position: Int64? = try database.value(
      "SELECT position FROM entries WHERE feed = ? AND subject = ? AND gone = 0",
      [id, StoreKey(subject).data])
    return position.map { Position(column: $0) > state.cleared } ?? false
  }

  /// The state of a feed that has no row: the feed is empty, and its floor is that of the forced
  /// expiries that apply to the feed.
  static func unwritten(_ key: FeedKey, in database: GRDB.Database) throws -> FeedState {
    FeedState(floor: try ExpiryTable(database: database).floor(of: key))
  }

  /// Adds the row of a feed that has none.
  ///
  /// - Parameter column: `key.column`, which the caller has already computed.
  static func make(_ key: FeedKey, _ column: StoreKey, in database: GRDB.Database) throws -> Self {
    let state = try unwritten(key, in: database)
    let statement = try RawStatement(
      """
      INSERT INTO feeds
        (partition, container, environment, owner, key, head, floor, cleared, gap, count, present)
      VALUES (?, ?, ?, ?, ?, 0, ?, 0, 0, 0, 0)
      """, in: database)
    statement.bind(placeOf: key)
    statement.bind(column.bytes, at: 5)
    statement.bind(state.floor.column, at: 6)
    try statement.run()
    return FeedRow(id: database.lastInsertedRowID, state: state, count: 0, present: 0)
  }

  func save(in database: GRDB.Database) throws {
    let statement = try RawStatement(
      """
      UPDATE feeds SET head = ?, floor = ?, cleared = ?, gap = ?, count = ?, present = ?
      WHERE id = ?
      """, in: database)
    try statement.run(
      state.head.column, state.floor.column, state.cleared.column, state.hasGap ? 1 : 0, count,
      present, id)
  }

  /// A name that is only compared, never shown. The name is stored as a blob, because a bound text
  /// ends at its first NUL.
  static func name(_ text: String) -> StoreKey {
    var key = StoreKey()
    key.text(text)
    return key
  }
}

extension FeedKey {
  /// The feed's key as a column. The key begins with the partition, because a wide change writes
  /// the feeds of one partition's users one after another, so their rows should lie together.
  var column: StoreKey {
    var key = StoreKey()
    key.byte(UInt8(partition.number))
    key.rest(text.utf8)
    return key
  }
}

extension RawStatement {
  /// Sets the first four parameters to the feed's partition, container, environment and owner. A
  /// forced expiry finds a feed by these columns.
  func bind(placeOf key: FeedKey) {
    bind(Int64(key.partition.number), at: 1)
    bind(FeedRow.name(key.scope.container).bytes, at: 2)
    bind(Int64(key.scope.environment.rawValue), at: 3)
    bind(FeedRow.name(key.owner.name).bytes, at: 4)
  }
}
