import Foundation
import GRDB
import RelayCore

/// Writes feed cuts into the feeds' tables, within one fold.
struct FeedWriter {
  let database: GRDB.Database
  /// The relay's time at the cut; retention counts from this time.
  let at: Instant
  let limits: Limits
  private let entries: EntryStatements

  init(database: GRDB.Database, at: Instant, limits: Limits) throws {
    (self.database, self.at, self.limits) = (database, at, limits)
    entries = try EntryStatements(database)
  }

  /// - Returns: whether the feed is nearly full; nil if that has not changed.
  func apply(_ cut: FeedCut) throws -> Bool? {
    let column = cut.feed.column
    var feed = try FeedRow.find(column, in: database) ?? .make(cut.feed, column, in: database)
    let before = feed
    if let cleared = cut.cleared, cleared > feed.state.cleared {
      feed.state.cleared = cleared
      feed.present = 0
      try database.run("INSERT OR IGNORE INTO clearing VALUES (?)", [feed.id])
    }
    feed.state.floor = max(feed.state.floor, cut.floor ?? .zero, feed.state.cleared)
    feed.state.hasGap = cut.gap ?? feed.state.hasGap
    let isCounted = !cut.feed.isBounded
    for delta in cut.deltas { try fold(delta, into: &feed, isCounted: isCounted) }
    for marks in cut.marks { try mark(marks, in: &feed) }
    if isCounted {
      let excess = feed.count - feed.present - Int64(limits.subjectsMax(in: cut.feed))
      let most = Int64(Limits.tombstonesRemoved(with: cut.deltas.count))
      try removeOldest(min(excess, most), of: &feed, presentUpTo: feed.state.cleared)
    } else {
      let excess = feed.count - Int64(limits.notificationsPerUser)
      try removeOldest(excess, of: &feed, presentUpTo: Position(bits: UInt64(Int64.max)))
      feed.state.floor = max(feed.state.floor, cut.trimmed ?? .zero)
    }
    if feed != before { try feed.save(in: database) }
    let was = limits.isNearlyFull(cut.feed, present: Int(before.present))
    let isNow = limits.isNearlyFull(cut.feed, present: Int(feed.present))
    return was == isNow ? nil : isNow
  }

  private func fold(
    _ item: SubjectDelta, into feed: inout FeedRow, isCounted: Bool
  ) throws {
    guard item.delta.last.position > feed.state.cleared else { return }
    let key = StoreKey(item.subject).bytes
    let standing = try entries.entry(of: feed.id, key, subject: item.subject)
    let visible = standing.flatMap { $0.life.position > feed.state.cleared ? $0 : nil }
    let entry = Fold.fold(
      visible, item.delta, subject: item.subject, floor: feed.state.floor)
    feed.state.head = max(feed.state.head, entry.life.position)
    guard entry != standing else { return }
    try entries.save(entry, of: feed.id, key, kept: at)
    if standing == nil { feed.count += 1 }
    guard isCounted, entry.life.isPresent != visible?.life.isPresent ?? false else { return }
    feed.present += entry.life.isPresent ? 1 : -1
  }

  /// Applies read marks. Reads only the entries that the marks name, because a fold serves all
  /// users and one user must not slow the fold.
  private func mark(_ marks: ReadMarks, in feed: inout FeedRow) throws {
    var named: [Entry] = []
    for notification in Set(marks.notifications) {
      named += try entries.unread(notification, of: feed.id)
    }
    named.removeAll { $0.life.position <= feed.state.cleared }
    for entry in Fold.mark(named, marks) {
      try entries.save(entry, of: feed.id, StoreKey(entry.subject).bytes, kept: at)
      feed.state.head = max(feed.state.head, entry.life.position)
    }
  }

  /// Removes the `count` oldest of these entries: tombstones, and others up to position `border`.
  /// Raises the floor: tokens of readers who have not seen the removed entries expire.
  private func removeOldest(
    _ count: Int64, of feed: inout FeedRow, presentUpTo border: Position
  ) throws {
    guard count > 0 else { return }
    let oldest = try database.rows(
      """
      SELECT position, subject FROM (
        SELECT position, subject FROM entries WHERE feed = ?1 AND gone = 0 AND position <= ?3
        UNION ALL
        SELECT position, subject FROM entries WHERE feed = ?1 AND gone = 1
        ORDER BY position LIMIT ?2)
      """, [feed.id, count, border.column])
    for row in oldest {
      try FeedWriter.remove(row[1], of: feed.id, in: database)
      feed.state.floor = max(feed.state.floor, Position(column: row[0]))
    }
    feed.count -= Int64(oldest.count)
  }

  static func remove(_ subject: Data, of feed: Int64, in database: GRDB.Database) throws {
    try database.run("DELETE FROM entries WHERE feed = ? AND subject = ?", [feed, subject])
  }
}
