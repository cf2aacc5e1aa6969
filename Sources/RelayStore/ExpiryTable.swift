import Foundation
import GRDB
import RelayCore

/// Forced expiries that still apply to feeds without a row of their own, within one transaction or
/// snapshot.
struct ExpiryTable {
  let database: GRDB.Database

  /// The position below which a forced expiry has expired the feed's tokens; zero if there is none.
  func floor(of key: FeedKey) throws -> Position {
    let floor = try Int64.fetchOne(
      try database.cachedStatement(
        sql: """
          SELECT max(floor) FROM expiries
          WHERE partition = ? AND container IN (x'', ?) AND environment IN (0, ?)
            AND owner IN (x'', ?)
          """),
      arguments: [
        Int(key.partition.number), FeedRow.name(key.scope.container),
        Int(key.scope.environment.rawValue), FeedRow.name(key.owner.name),
      ])
    return floor.map { Position(column: $0) } ?? .zero
  }

  /// Adds an expiry in place of the expiries that it covers. If more than `FeedExpiry.keptMax`
  /// would stay, one expiry that covers every feed replaces them all.
  func keep(_ expiry: FeedExpiry, in partition: PartitionID) throws {
    let number = Int(partition.number)
    try database.execute(
      sql: """
        DELETE FROM expiries
        WHERE partition = ?1 AND ?2 IN (x'', container) AND ?3 IN (0, environment)
          AND ?4 IN (x'', owner)
        """, arguments: [number] + Self.columns(of: expiry.of))
    try insert(expiry, number)
    let kept = try Row.fetchOne(
      database, sql: "SELECT count(*), max(floor) FROM expiries WHERE partition = ?",
      arguments: [number])
    guard let kept, kept[0] > FeedExpiry.keptMax else { return }
    try database.execute(sql: "DELETE FROM expiries WHERE partition = ?", arguments: [number])
    try insert(FeedExpiry(of: TokenExpiry(), floor: Position(column: kept[1])), number)
  }

  private func insert(_ expiry: FeedExpiry, _ partition: Int) throws {
    try database.execute(
      sql: """
        INSERT INTO expiries (partition, container, environment, owner, floor)
        VALUES (?, ?, ?, ?, ?)
        """, arguments: [partition] + Self.columns(of: expiry.of) + [expiry.floor.column])
  }

  private static func columns(of expiry: TokenExpiry) -> StatementArguments {
    [
      expiry.container.map { FeedRow.name($0) } ?? Data(),
      expiry.environment.map { Int($0.rawValue) } ?? 0,
      expiry.user.map { FeedRow.name($0.name) } ?? Data(),
    ]
  }
}
