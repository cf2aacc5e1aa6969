import Foundation
import GRDB
import Hummingbird
import ZoneRelayClient

/// Notes, shares and the outbox, in one SQLite file. A change and its row in the outbox are written
/// in one transaction, so the poster sends each stored change to the relay, and no other change.
struct NoteStore: Sendable {
  struct WaitingEvent: FetchableRecord, Decodable { var number: Int64, json: String }
  private let database: DatabaseQueue

  init(_ file: URL) throws {
    database = try DatabaseQueue(path: file.path)
    // A deleted note keeps its row and revision. `edit` has all ids, also of edits without effect.
    let schema = """
      CREATE TABLE IF NOT EXISTS note (
        owner TEXT, zone TEXT, name TEXT, text TEXT, revision INTEGER NOT NULL,
        PRIMARY KEY (owner, zone, name));
      CREATE TABLE IF NOT EXISTS share (
        owner TEXT, zone TEXT, user TEXT, PRIMARY KEY (owner, zone, user));
      CREATE TABLE IF NOT EXISTS edit (id TEXT PRIMARY KEY);
      CREATE TABLE IF NOT EXISTS outbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL,
        isPosted BOOLEAN NOT NULL DEFAULT FALSE, refusal TEXT);
      CREATE INDEX IF NOT EXISTS outboxWaiting ON outbox (number) WHERE NOT isPosted;
      """
    try database.write { try $0.execute(sql: schema) }
  }

  /// Carries out an edit; one that comes again changes nothing. Returns the note as it is then.
  func save(_ edit: Edit, by user: String, on installation: UUID) async throws -> Note? {
    for name in [edit.name, edit.zone.name]
    where !(1...255 ~= name.utf8.count)
      || name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    {
      throw HTTPError(.badRequest, message: "a name has 1 to 255 bytes and no control character")
    }
    return try await database.write { db in
      try Self.require(user, mayUse: edit.zone, db)
      let old = try Self.note(edit.name, in: edit.zone, db)
      try db.execute(sql: "INSERT OR IGNORE INTO edit VALUES (?)", arguments: ["\(edit.id)"])
      let (isNew, text) = (db.changesCount == 1, edit.text(over: old))
      guard isNew, text != old?.text else { return old }
      let new = Note(name: edit.name, revision: (old?.revision ?? 0) + 1, text: text)
      try db.execute(
        sql: "INSERT OR REPLACE INTO note VALUES (?, ?, ?, ?, ?)",
        arguments: [edit.zone.owner, edit.zone.name, new.name, new.text, new.revision])
      let content = RelayEvent.Content(
        zoneID: edit.zone, record: .init(recordName: new.name, recordChangeTag: "\(new.revision)"),
        changedBy: .init(userRecordName: user, clientId: installation))
      let kind = text == nil ? "deleted" : old?.text == nil ? "created" : "updated"
      let type = "zonerelay.record.\(kind)"
      try Self.addToOutbox(RelayEvent(id: edit.id, type: type, data: content), db)
      return new
    }
  }

  /// The notes of these names, also deleted ones. A name that has never had a note is left out.
  func fetch(_ names: [String], in zone: ZoneID, for user: String) async throws -> [Note] {
    try await database.read { db in
      try Self.require(user, mayUse: zone, db)
      return try names.compactMap { try Self.note($0, in: zone, db) }
    }
  }

  /// Lets another user see and change the owner's zone.
  func share(_ zone: ZoneID, with participant: String, by user: String) async throws {
    try await database.write { db in
      guard zone.owner == user else { throw HTTPError(.forbidden) }
      try db.execute(
        sql: "INSERT OR IGNORE INTO share VALUES (?, ?, ?)",
        arguments: [zone.owner, zone.name, participant])
      let content = RelayEvent.Content(
        zoneID: zone, participant: participant, changedBy: .init(userRecordName: user))
      let event = RelayEvent(id: UUID(), type: "zonerelay.share.granted", data: content)
      try Self.addToOutbox(event, db)
    }
  }

  func waitingEvents(atMost count: Int) async throws -> [WaitingEvent] {
    let sql = "SELECT number, json FROM outbox WHERE NOT isPosted ORDER BY number LIMIT ?"
    return try await database.read { try WaitingEvent.fetchAll($0, sql: sql, arguments: [count]) }
  }

  /// Marks exactly these events. `refusals`: why the relay never takes one, by its place.
  func mark(_ events: [WaitingEvent], refusals: [Int: String]) async throws {
    let sql = "UPDATE outbox SET isPosted = TRUE, refusal = ? WHERE number = ?"
    try await database.write { db in
      for (place, event) in events.enumerated() {
        try db.execute(sql: sql, arguments: [refusals[place], event.number])
      }
    }
  }

  private static func addToOutbox(_ event: RelayEvent, _ db: Database) throws {
    let json = String(decoding: try JSONEncoder().encode(event), as: UTF8.self)
    try db.execute(sql: "INSERT INTO outbox (json) VALUES (?)", arguments: [json])
  }

  private static func note(_ name: String, in zone: ZoneID, _ db: Database) throws -> Note? {
    let sql = "SELECT name, text, revision FROM note WHERE owner = ? AND zone = ? AND name = ?"
    return try Note.fetchOne(db, sql: sql, arguments: [zone.owner, zone.name, name])
  }

  private static func require(_ user: String, mayUse zone: ZoneID, _ db: Database) throws {
    let sql = "SELECT user FROM share WHERE owner = ? AND zone = ? AND user = ?"
    let share = try Row.fetchOne(db, sql: sql, arguments: [zone.owner, zone.name, user])
    guard zone.owner == user || share != nil else { throw HTTPError(.forbidden) }
  }
}

extension Note: FetchableRecord {}
