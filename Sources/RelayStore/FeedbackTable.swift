import Foundation
import GRDB
import RelayCore
import RelayEngine

/// The feed of feedback in its two tables, within one transaction or snapshot.
struct FeedbackTable {
  let database: GRDB.Database

  /// Adds new items and keeps each scope within its bound. The call may be repeated: if a cut is
  /// folded again, its items are in the table already and nothing changes.
  func append(_ items: [Feedback], at: Instant, limits: Limits) throws {
    guard !items.isEmpty else { return }
    var scopes: [Scope] = []
    for item in items {
      let scope = StoreKey(scope: item.device.scope).data
      try database.run(
        "INSERT INTO feedback (id, scope, kept, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [StoreKey(item.id).data, scope, at.milliseconds, Data(item.blob)])
      guard database.changesCount > 0 else { continue }
      try database.run(
        """
        INSERT INTO feedback_scopes (scope, count, floor, taken) VALUES (?, 1, 0, 0)
        ON CONFLICT (scope) DO UPDATE SET count = count + 1
        """, [scope])
      if !scopes.contains(item.device.scope) { scopes.append(item.device.scope) }
    }
    for scope in scopes { try bound(scope, to: limits.feedbackItems) }
  }

  private func bound(_ scope: Scope, to limit: Int) throws {
    let key = StoreKey(scope: scope).data
    let count: Int? = try database.value(
      "SELECT count FROM feedback_scopes WHERE scope = ?", [key])
    guard let count, count > limit else { return }
    let last: Int64? = try database.value(
      "SELECT position FROM feedback WHERE scope = ? ORDER BY position LIMIT 1 OFFSET ?",
      [key, count - limit - 1])
    guard let last else { return }
    try database.run("DELETE FROM feedback WHERE scope = ? AND position <= ?", [key, last])
    try removed(database.changesCount, through: last, of: key)
  }

  /// Removes the oldest items: those that were added before `instant`. The relay's time never goes
  /// back, so the items to remove form the beginning of the table.
  func trim(before instant: Instant, limit: Int) throws -> Int {
    let rows = try database.rows(
      "SELECT position, scope, kept FROM feedback ORDER BY position LIMIT ?", [limit])
    let old = rows.prefix { ($0[2] as Int64) < instant.milliseconds }
    for row in old {
      try database.run("DELETE FROM feedback WHERE position = ?", [row[0] as Int64])
      try removed(1, through: row[0], of: row[1])
    }
    return old.count
  }

  private func removed(_ count: Int, through position: Int64, of scope: Data) throws {
    try database.run(
      "UPDATE feedback_scopes SET count = count - ?, floor = max(floor, ?) WHERE scope = ?",
      [count, position, scope])
  }

  func page(_ query: FeedbackQuery) throws -> FeedbackPage {
    var (meant, floor): ([Data], Int64) = ([], 0)
    for row in try database.rows("SELECT scope, floor FROM feedback_scopes")
    where query.means(try row.key(0) { try $0.scope() }) {
      meant.append(row[0])
      floor = max(floor, row[1])
    }
    let marks = Array(repeating: "?", count: meant.count).joined(separator: ", ")
    let rows = try Row.fetchAll(
      database,
      sql: """
        SELECT position, body FROM feedback WHERE scope IN (\(marks)) AND position > ?
        ORDER BY position LIMIT ?
        """,
      arguments: StatementArguments(meant)
        + [Int64(clamping: query.after.number), query.limit + 1])
    let items = try rows.prefix(query.limit).map { row in
      FeedbackPage.Item(
        position: try FeedbackPosition(column: row[0]),
        feedback: try Feedback(blob: row.bytes(1)))
    }
    let head: Int64? = try database.value(
      "SELECT seq FROM sqlite_sequence WHERE name = 'feedback'")
    return FeedbackPage(
      items: items, hasMore: rows.count > query.limit,
      floor: try FeedbackPosition(column: floor), head: try FeedbackPosition(column: head ?? 0))
  }

  func taken(in scope: Scope) throws -> FeedbackPosition {
    let taken: Int64? = try database.value(
      "SELECT taken FROM feedback_scopes WHERE scope = ?", [StoreKey(scope: scope).data])
    return try FeedbackPosition(column: taken ?? 0)
  }

  func take(through position: FeedbackPosition, in scope: Scope) throws {
    try database.run(
      """
      INSERT INTO feedback_scopes (scope, count, floor, taken) VALUES (?, 0, 0, ?)
      ON CONFLICT (scope) DO UPDATE SET taken = max(taken, excluded.taken)
      """, [StoreKey(scope: scope).data, Int64(clamping: position.number)])
  }
}
