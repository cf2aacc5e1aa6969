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
    let floor: Position
    switch try entitlement(of: query.reader, to: query.feed) {
    case .none: return .absent
    case .from(let granted): floor = granted
    }
    let feed = try FeedRow.find(query.feed, in: database)
    let state = try feed?.state ?? FeedRow.unwritten(query.feed, in: database)
    let eras = try eras(of: query.feed)
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
    let feed = try FeedRow.find(key, in: database)
    let top = try (feed?.state ?? FeedRow.unwritten(key, in: database)).top
    return FeedCursor(era: try eras(of: key).of(top.ordinal)?.id ?? 0, position: top)
  }

  /// The present zones of a database feed, ordered by zone.
  func zones(of key: FeedKey, after zone: ZoneID?, limit: Int) throws -> [ZoneDigest] {
    guard let feed = try FeedRow.find(key, in: database) else { return [] }
    let statement = try database.cachedStatement(
      sql: """
        SELECT subject FROM entries
        WHERE feed = ? AND subject > ? AND gone = 0 AND position > ?
        ORDER BY subject LIMIT ?
        """)
    let subjects = try Data.fetchAll(
      statement,
      arguments: [
        feed.id, zone.map { StoreKey($0).data } ?? Data([0]), feed.state.cleared.column, limit,
      ])
    return try subjects.compactMap { subject in
      guard case .zone(let zone) = try Subject(subject) else { return nil }
      let own = FeedKey(scope: key.scope, kind: .zone(zone))
      return ZoneDigest(zone: zone, head: try head(of: own))
    }
  }

  private func eras(of key: FeedKey) throws -> Eras {
    try knownEras.eras(of: key.partition, in: database)
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
  private enum Entitlement {
    case none
    /// The reader may read the feed. Tokens below this position are older than the reader's current
    /// grant.
    case from(Position)
  }

  private func entitlement(of reader: UserID, to key: FeedKey) throws -> Entitlement {
    switch key.kind {
    case .notifications(let user): return user == reader ? .from(.zero) : .none
    case .database(let user, let database):
      return user == reader && database != .public ? .from(.zero) : .none
    case .zone(let zone):
      guard try isPresent(zone, in: key.scope) else { return .none }
      if zone.owner == reader { return .from(.zero) }
      let grant = try Row.fetchOne(
        try database.cachedStatement(sql: "SELECT floor FROM grants WHERE key = ?"),
        arguments: [StoreKey(scope: key.scope, zone: zone, participant: reader).data])
      guard let grant else { return .none }
      return .from(Position(column: grant[0]))
    }
  }

  /// True if the zone exists, which means that its owner's private database lists it.
  private func isPresent(_ zone: ZoneID, in scope: Scope) throws -> Bool {
    let own = FeedKey(scope: scope, kind: .database(zone.owner, .private))
    guard let feed = try FeedRow.find(own, in: database) else { return false }
    let statement = try database.cachedStatement(
      sql: "SELECT position FROM entries WHERE feed = ? AND subject = ? AND gone = 0")
    let row = try Row.fetchOne(statement, arguments: [feed.id, StoreKey(zone).data])
    return row.map { Position(column: $0[0]) > feed.state.cleared } ?? false
  }
}

extension FeedSnapshot {
  /// Entries after `start` in order of position: those that a page looks at, and one more if there
  /// is one.
  ///
  /// Present and gone entries form two runs of one index. The reader must not see the gone entries
  /// up to `start.goneHidden`. The query skips these entries by position, not one by one, so a
  /// first page costs the same however many deletions came before it.
  private func entries(
    of feed: FeedRow, after start: FeedCursor, _ query: PageQuery
  ) throws -> [Entry] {
    let after = max(start.position, feed.state.cleared)
    var present = try Run(of: feed, gone: false, after: after, in: database)
    var gone = try Run(
      of: feed, gone: true, after: max(after, start.goneHidden), in: database)
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
    private let rows: RowCursor
    private(set) var position: Position?
    private var row: Row?

    init(of feed: FeedRow, gone: Bool, after: Position, in database: GRDB.Database) throws {
      // The SQL differs, so that the two runs of one read do not share a cached statement.
      let sql = """
        SELECT \(EntryRow.columns) FROM entries
        WHERE feed = ? AND gone = \(gone ? 1 : 0) AND position > ? ORDER BY position
        """
      rows = try Row.fetchCursor(
        try database.cachedStatement(sql: sql), arguments: [feed.id, after.column])
      try advance()
    }

    mutating func take() throws -> Entry {
      guard let row else { throw StoreKeyReader.Malformed() }
      let entry = try EntryRow.entry(row)
      try advance()
      return entry
    }

    private mutating func advance() throws {
      row = try rows.next()
      position = row.map { Position(column: $0[0]) }
    }
  }
}
