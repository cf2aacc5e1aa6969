import Foundation
import GRDB
import RelayCore

/// Forced expiries (an operator has expired tokens), within one transaction or snapshot. The table
/// keeps an expiry for feeds that get their row later, until another expiry covers it.
struct ExpiryTable {
  let database: GRDB.Database

  /// The position below which a forced expiry has expired the feed's tokens; zero if no forced
  /// expiry applies to the feed.
  func floor(of key: FeedKey) throws -> Position {
    let statement = try RawStatement(
      """
      SELECT max(floor) FROM expiries WHERE partition = ? AND container IN (x'', ?)
        AND environment IN (0, ?) AND owner IN (x'', ?)
      """, in: database)
    defer { statement.reset() }
    statement.bind(placeOf: key)
    // `max` always gives one row. If no expiry applies, its value is null, which reads as zero.
    return try statement.step() ? Position(column: statement.number(0)) : .zero
  }

  /// Raises the floors of the partition's feeds to which the expiry applies, and keeps this expiry
  /// in place of the expiries that it covers. If more than `FeedExpiry.keptMax` would stay, one
  /// expiry that covers every feed replaces them all.
  func expire(_ expiry: FeedExpiry, in partition: PartitionID) throws {
    let meant =
      "partition = ?1 AND ?2 IN (x'', container) AND ?3 IN (0, environment) "
      + "AND ?4 IN (x'', owner)"
    let columns = Self.columns(of: expiry.of, in: partition)
    try database.execute(
      sql: "UPDATE feeds SET floor = max(floor, ?5) WHERE \(meant)",
      arguments: columns + [expiry.floor.column])
    try database.execute(sql: "DELETE FROM expiries WHERE \(meant)", arguments: columns)
    try insert(expiry, partition)
    let kept = try Row.fetchOne(
      database, sql: "SELECT count(*), max(floor) FROM expiries WHERE partition = ?",
      arguments: [Int(partition.number)])
    guard let kept, kept[0] > FeedExpiry.keptMax else { return }
    try database.execute(
      sql: "DELETE FROM expiries WHERE partition = ?", arguments: [Int(partition.number)])
    try insert(FeedExpiry(of: TokenExpiry(), floor: Position(column: kept[1])), partition)
  }

  private func insert(_ expiry: FeedExpiry, _ partition: PartitionID) throws {
    try database.execute(
      sql: """
        INSERT INTO expiries (partition, container, environment, owner, floor)
        VALUES (?, ?, ?, ?, ?)
        """, arguments: Self.columns(of: expiry.of, in: partition) + [expiry.floor.column])
  }

  private static func columns(
    of expiry: TokenExpiry, in partition: PartitionID
  ) -> StatementArguments {
    [
      Int(partition.number), expiry.container.map { FeedRow.name($0).data } ?? Data(),
      expiry.environment.map { Int($0.rawValue) } ?? 0,
      expiry.user.map { FeedRow.name($0.name).data } ?? Data(),
    ]
  }
}
