import Foundation
import GRDB
import RelayCore

/// A feed as its table's row, within one transaction or snapshot.
struct FeedRow {
  var id: Int64
  var state: FeedState
  var count: Int64

  static func find(_ key: FeedKey, in database: GRDB.Database) throws -> FeedRow? {
    let statement = try database.cachedStatement(
      sql: "SELECT id, head, floor, cleared, gap, count FROM feeds WHERE key = ?")
    return try Row.fetchOne(statement, arguments: [key.column]).map { row in
      FeedRow(
        id: row[0],
        state: FeedState(
          head: Position(column: row[1]), floor: Position(column: row[2]),
          cleared: Position(column: row[3]), hasGap: row[4]),
        count: row[5])
    }
  }

  static func make(_ key: FeedKey, in database: GRDB.Database) throws -> FeedRow {
    let statement = try database.cachedStatement(
      sql: """
        INSERT INTO feeds
          (key, partition, container, environment, owner, head, floor, cleared, gap, count)
        VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0, 0)
        """)
    try statement.execute(arguments: [
      key.column, Int(key.partition.number), Self.name(key.scope.container),
      Int(key.scope.environment.rawValue), Self.name(key.owner.name),
    ])
    return FeedRow(id: database.lastInsertedRowID, state: FeedState(), count: 0)
  }

  func save(in database: GRDB.Database) throws {
    let statement = try database.cachedStatement(
      sql: "UPDATE feeds SET head = ?, floor = ?, cleared = ?, gap = ?, count = ? WHERE id = ?")
    try statement.execute(arguments: [
      state.head.column, state.floor.column, state.cleared.column, state.hasGap ? 1 : 0, count,
      id,
    ])
  }

  /// A name that is compared, never shown; a blob, for the reason `StoreKey` has.
  static func name(_ text: String) -> Data {
    var key = StoreKey()
    key.text(text)
    return key.data
  }
}

extension FeedKey {
  /// Partition first: users of one partition are told of a wide change one after another, and so
  /// their rows lie together.
  var column: Data {
    var bytes = Data([partition.number])
    bytes.append(contentsOf: text.utf8)
    return bytes
  }
}
