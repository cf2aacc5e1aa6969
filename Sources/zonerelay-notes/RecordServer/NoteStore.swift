import Foundation
import GRDB
import ZoneRelayClient

/// Notes, shares and the outbox, in one SQLite file. A change and its row in the outbox are written
/// in one transaction: the relay hears of each change that is stored, and of no other. Posted rows
/// stay, so that an edit that comes again is known; a real server removes them after some weeks.
struct NoteStore: Sendable {
  enum Failure: Error { case forbidden }
  struct WaitingEvent: FetchableRecord, Decodable { var number: Int64, json: String }

  private let database: DatabaseQueue

  init(_ file: URL) throws {
    database = try DatabaseQueue(path: file.path)
    let schema = """
      CREATE TABLE IF NOT EXISTS note (
        owner TEXT, zone TEXT, name TEXT, text TEXT NOT NULL, tag TEXT NOT NULL,
        PRIMARY KEY (owner, zone, name));
      CREATE TABLE IF NOT EXISTS share (
        owner TEXT, zone TEXT, user TEXT, PRIMARY KEY (owner, zone, user));
      CREATE TABLE IF NOT EXISTS outbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, json TEXT NOT NULL,
        isPosted BOOLEAN NOT NULL DEFAULT FALSE);
      """
    try database.write { try $0.execute(sql: schema) }
  }

  /// Carries out an edit; one that comes again changes nothing. Returns the note as it is then.
  func save(_ edit: Edit, by user: String, on installation: UUID) async throws -> Note? {
    try await database.write { db in
      let zone = edit.zone
      try Self.require(user, mayUse: zone, db)
      let old = try Self.note(edit.name, in: zone, db)
      let (id, text) = (edit.id.uuidString, edit.text(over: old))
      let known = try Row.fetchOne(db, sql: "SELECT id FROM outbox WHERE id = ?", arguments: [id])
      guard known == nil, text != old?.text else { return old }
      // Each edit has another id, so the id serves as the tag of the version that the edit makes.
      let new = text.map { Note(name: edit.name, text: $0, tag: id) }
      try db.execute(
        sql: new == nil
          ? "DELETE FROM note WHERE owner = ? AND zone = ? AND name = ?"
          : "INSERT OR REPLACE INTO note VALUES (?, ?, ?, ?, ?)",
        arguments: [zone.owner, zone.name, edit.name] + (new.map { [$0.text, $0.tag] } ?? []))
      let content = RelayEvent.Content(
        zoneID: zone, record: .init(recordName: edit.name, recordChangeTag: id),
        changedBy: .init(userRecordName: user, clientId: installation))
      let kind: RelayEvent.Kind = new == nil ? .deleted : old == nil ? .created : .updated
      try Self.addToOutbox(RelayEvent(id: edit.id, type: kind, data: content), db)
      return new
    }
  }

  /// The notes of these names. A name without a note is left out.
  func fetch(_ names: [String], in zone: ZoneID, for user: String) async throws -> [Note] {
    try await database.read { db in
      try Self.require(user, mayUse: zone, db)
      return try names.compactMap { try Self.note($0, in: zone, db) }
    }
  }

  /// Lets another user see and change the owner's zone.
  func share(_ zone: ZoneID, with participant: String, by user: String) async throws {
    try await database.write { db in
      guard zone.owner == user else { throw Failure.forbidden }
      try db.execute(
        sql: "INSERT OR IGNORE INTO share VALUES (?, ?, ?)",
        arguments: [zone.owner, zone.name, participant])
      let content = RelayEvent.Content(
        zoneID: zone, participant: participant, changedBy: .init(userRecordName: user))
      try Self.addToOutbox(RelayEvent(id: UUID(), type: .shared, data: content), db)
    }
  }

  func waitingEvents(atMost count: Int) async throws -> [WaitingEvent] {
    let sql = "SELECT number, json FROM outbox WHERE NOT isPosted ORDER BY number LIMIT ?"
    return try await database.read { try WaitingEvent.fetchAll($0, sql: sql, arguments: [count]) }
  }

  func markPosted(through number: Int64) async throws {
    let sql = "UPDATE outbox SET isPosted = TRUE WHERE number <= ?"
    try await database.write { try $0.execute(sql: sql, arguments: [number]) }
  }

  private static func addToOutbox(_ event: RelayEvent, _ db: Database) throws {
    let json = String(decoding: try JSONEncoder().encode(event), as: UTF8.self)
    try db.execute(
      sql: "INSERT INTO outbox (id, json) VALUES (?, ?)", arguments: [event.id.uuidString, json])
  }

  private static func note(_ name: String, in zone: ZoneID, _ db: Database) throws -> Note? {
    let sql = "SELECT name, text, tag FROM note WHERE owner = ? AND zone = ? AND name = ?"
    return try Note.fetchOne(db, sql: sql, arguments: [zone.owner, zone.name, name])
  }

  private static func require(_ user: String, mayUse zone: ZoneID, _ db: Database) throws {
    let sql = "SELECT user FROM share WHERE owner = ? AND zone = ? AND user = ?"
    let share = try Row.fetchOne(db, sql: sql, arguments: [zone.owner, zone.name, user])
    guard zone.owner == user || share != nil else { throw Failure.forbidden }
  }
}

extension Note: FetchableRecord {}
