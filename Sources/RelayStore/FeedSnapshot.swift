import Foundation
import GRDB
import RelayCore
import RelayEngine

/// Reads feeds within one snapshot of the store. SQL only fetches rows; `Page` and `Life` decide
/// what a page holds.
struct FeedSnapshot {
  let database: GRDB.Database
  let knownEras: KnownEras

  func page(_ query: PageQuery) throws -> PageAnswer {
    guard let floor = try floor(of: query.reader, in: query.feed) else { return .absent }
    let feed = try FeedRow.find(query.feed.column, in: database)
    let state = try feed?.state ?? FeedRow.unwritten(query.feed, in: database)
    let eras = try knownEras.eras(of: query.feed.partition, in: database)
    switch Page.start(of: state, eras: eras, after: query.after, floor: floor) {
    case .failure(let expiry): return .expired(expiry)
    case .success(let start):
      let ahead = try feed.map { try entries(of: $0, after: start, query) } ?? []
      var page = Page.page(
        of: ahead, feed: state, eras: eras, start: start, limit: query.limit, looks: query.looks)
      page.zoneHeads = try zoneHeads(of: page.entries, in: query.feed)
      return .page(page)
    }
  }

  /// The position at the head of a feed. The head of a feed without a row is the feed's beginning.
  func head(of key: FeedKey) throws -> FeedCursor {
    let feed = try FeedRow.find(key.column, in: database)
    let top = try (feed?.state ?? FeedRow.unwritten(key, in: database)).top
    let eras = try knownEras.eras(of: key.partition, in: database)
    return FeedCursor(era: eras.of(top.ordinal)?.id ?? 0, position: top)
  }

  /// The present zones of a database feed, ordered by zone.
  func zones(of key: FeedKey, after zone: ZoneID?, limit: Int) throws -> [ZoneDigest] {
    guard let feed = try FeedRow.find(key.column, in: database) else { return [] }
    let rows = try database.rows(
      """
      SELECT subject FROM entries
      WHERE feed = ? AND subject > ? AND gone = 0 AND position > ?
      ORDER BY subject LIMIT ?
      """,
      [feed.id, zone.map { StoreKey($0).data } ?? Data([0]), feed.state.cleared.column, limit])
    return try rows.compactMap { row in
      guard case .zone(let zone) = try Subject(row.bytes(0)) else { return nil }
      let own = FeedKey(scope: key.scope, kind: .zone(zone))
      return ZoneDigest(zone: zone, head: try head(of: own))
    }
  }

  private func zoneHeads(of entries: [Entry], in key: FeedKey) throws -> [FeedCursor] {
    guard case .database = key.kind else { return [] }
    return try entries.map { entry in
      guard case .zone(let zone) = entry.subject else { return FeedCursor(era: 0, position: .zero) }
      return try head(of: FeedKey(scope: key.scope, kind: .zone(zone)))
    }
  }
}

extension FeedSnapshot {
  /// The position below which the reader's tokens are older than its current grant; nil if the
  /// reader may not read the feed.
  private func floor(of reader: UserID, in key: FeedKey) throws -> Position? {
    switch key.kind {
    case .notifications(let user): return user == reader ? .zero : nil
    case .database(let user, let database):
      return user == reader && database != .public ? .zero : nil
    case .zone(let zone):
      // A zone exists if its owner's private database lists it.
      let own = FeedKey(scope: key.scope, kind: .database(zone.owner, .private))
      let exists = try FeedRow.find(own.column, in: database)?.holds(.zone(zone), in: database)
      guard exists == true else { return nil }
      if zone.owner == reader { return .zero }
      let floor: Int64? = try database.value(
        "SELECT floor FROM grants WHERE key = ?",
        [StoreKey(scope: key.scope, zone: zone, participant: reader).data])
      return floor.map { Position(column: $0) }
    }
  }
}

extension FeedSnapshot {
  /// Entries after `start` in order of position: those that a page looks at, and one more entry if
  /// more entries follow.
  ///
  /// Present and gone entries form two runs of one index. The reader must not see the gone entries
  /// up to `start.goneHidden`. The query skips these entries by position, not one by one, so a
  /// first page costs the same however many deletions came before it.
  private func entries(
    of feed: FeedRow, after start: FeedCursor, _ query: PageQuery
  ) throws -> [Entry] {
    let after = max(start.position, feed.state.cleared)
    var present = try Run(of: feed, gone: false, after: after, in: database)
    defer { present.end() }
    var gone = try Run(
      of: feed, gone: true, after: max(after, start.goneHidden), in: database)
    defer { gone.end() }
    try present.advance()
    try gone.advance()
    var entries: [Entry] = []
    var visible = 0
    while visible <= query.limit, entries.count <= query.looks {
      let entry: Entry
      if let next = present.position, next < gone.position ?? Position(bits: .max) {
        entry = try present.take()
      } else if gone.position != nil {
        entry = try gone.take()
      } else {
        break
      }
      entries.append(entry)
      if !entry.life.isHidden(from: start) { visible += 1 }
    }
    return entries
  }

  /// A feed's present entries, or its gone ones, in order of position; fetched row by row.
  private struct Run {
    private let rows: RawStatement
    private(set) var position: Position?

    init(of feed: FeedRow, gone: Bool, after: Position, in database: GRDB.Database) throws {
      // The SQL differs, so that the two runs of one read do not share a cached statement.
      rows = try RawStatement(
        """
        SELECT \(EntryRow.columns) FROM entries
        WHERE feed = ? AND gone = \(gone ? 1 : 0) AND position > ? ORDER BY position
        """, in: database)
      rows.bind(feed.id, at: 1)
      rows.bind(after.column, at: 2)
    }

    mutating func take() throws -> Entry {
      let entry = try EntryRow.entry(rows)
      try advance()
      return entry
    }

    mutating func advance() throws {
      position = try rows.step() ? Position(column: rows.number(0)) : nil
    }

    func end() { rows.reset() }
  }
}
