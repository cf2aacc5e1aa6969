import GRDB
import RelayCore
import RelayEngine

/// The statements that a fold runs for every subject, and for every id of a read mark.
struct EntryStatements {
  private let find: RawStatement
  private let findUnread: RawStatement
  private let save: RawStatement

  init(_ database: GRDB.Database) throws {
    find = try RawStatement(
      "SELECT \(EntryRow.columns) FROM entries WHERE feed = ? AND subject = ?", in: database)
    // Without INDEXED BY, SQLite scans the feed along its primary key, which holds the whole row.
    findUnread = try RawStatement(
      """
      SELECT \(EntryRow.columns) FROM entries INDEXED BY entries_by_notice
      WHERE feed = ? AND notice = ?
      """, in: database)
    save = try RawStatement(
      """
      INSERT OR REPLACE INTO entries
        (feed, subject, position, state, gone, born, died, reborn, device, stranger, sequence,
         time, detail, kept, aging, notice)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, in: database)
  }

  func entry(of feed: Int64, _ key: [UInt8], subject: Subject) throws -> Entry? {
    defer { find.reset() }
    find.bind(feed, at: 1)
    find.bind(key, at: 2)
    return try find.step() ? try EntryRow.entry(find, subject: subject) : nil
  }

  /// The unread notifications with this id: one for each subscription that the change matched.
  func unread(_ notification: Identifier, of feed: Int64) throws -> [Entry] {
    defer { findUnread.reset() }
    findUnread.bind(feed, at: 1)
    findUnread.bind(notification.unreadBits, at: 2)
    var found: [Entry] = []
    while try findUnread.step() {
      let entry = try EntryRow.entry(findUnread)
      // Another id may have the same 64 bits, so compare the whole id.
      if entry.unread == notification { found.append(entry) }
    }
    return found
  }

  /// - Parameter kept: the relay's time at the fold.
  func save(_ entry: Entry, of feed: Int64, _ key: [UInt8], kept: Instant) throws {
    let life = entry.life
    save.bind(feed, at: 1)
    save.bind(key, at: 2)
    save.bind(life.position.column, at: 3)
    save.bind(Int64(life.state.rawValue), at: 4)
    save.bind(life.isPresent ? 0 : 1, at: 5)
    save.bind(life.born.column, at: 6)
    save.bind(life.died.column, at: 7)
    save.bind(life.reborn.column, at: 8)
    if let device = life.device { save.bind(StoreKey(device.bits).bytes, at: 9) }
    save.bind(life.foreign.column, at: 10)
    if let sequence = life.sequence { save.bind(sequence, at: 11) }
    save.bind(life.time.milliseconds, at: 12)
    save.bind(entry.detail.blob, at: 13)
    save.bind(kept.milliseconds, at: 14)
    if let aging = Aging(entry) { save.bind(Int64(aging.rawValue), at: 15) }
    if let unread = entry.unread { save.bind(unread.unreadBits, at: 16) }
    try save.run()
  }
}

extension Identifier {
  /// The part of an id that the index of unread notifications keeps. An id is a keyed hash, so any
  /// 64 bits of it tell nearly all ids apart; the row itself has the whole id.
  fileprivate var unreadBits: Int64 { Int64(bitPattern: high ^ low) }
}
