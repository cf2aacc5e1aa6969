import Foundation
import GRDB
import Hummingbird
import ZoneRelayClient

/// Notes, shares and the outbox, in one SQLite file. A change and its row in the outbox are written
/// in one transaction, so the poster sends each stored change to the relay, and no other change.
struct NoteStore: Sendable {
  struct WaitingEvent: FetchableRecord, Decodable { var number: Int64, subject, json: String }
  private let database: DatabaseQueue

  init(_ file: URL) throws {
    database = try DatabaseQueue(path: file.path)
    // A deleted note keeps its row and revision. `edit` has all edits' ids, also those without
    // effect. `notBefore` is null when the event must not be posted again.
    let schema = """
      CREATE TABLE IF NOT EXISTS note (
        owner TEXT, zone TEXT, name TEXT, text TEXT, revision INTEGER NOT NULL,
        PRIMARY KEY (owner, zone, name));
      CREATE TABLE IF NOT EXISTS share (
        owner TEXT, zone TEXT, user TEXT, PRIMARY KEY (owner, zone, user));
      CREATE TABLE IF NOT EXISTS edit (id TEXT PRIMARY KEY);
      CREATE TABLE IF NOT EXISTS outbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, json TEXT NOT NULL,
        notBefore REAL DEFAULT 0, refusal TEXT);
      CREATE INDEX IF NOT EXISTS outboxWaiting ON outbox (number) WHERE notBefore IS NOT NULL;
      """
    try database.write { try $0.execute(sql: schema) }
  }

  /// Carries out an edit; a repeated edit changes nothing. Returns the note as it is afterwards.
  func save(_ edit: Edit, by user: String, on installation: UUID) async throws -> Note? {
    guard edit.isStorable else {
      throw HTTPError(
        .badRequest, message: "a control character, or a name not of 1-255 bytes in NFC")
    }
    return try await database.write { db in
      try Self.require(user, mayUse: edit.zone, db)
      let old = try Self.note(edit.name, in: edit.zone, db)
      try db.execute(literal: "INSERT OR IGNORE INTO edit VALUES (\(edit.id.uuidString))")
      let (isNew, text) = (db.changesCount == 1, edit.text(over: old))
      guard isNew, text != old?.text else { return old }
      guard text?.utf8.count ?? 0 <= Note.textBytesMax else {
        throw HTTPError(.contentTooLarge, message: "a note has at most \(Note.textBytesMax) bytes")
      }
      let new = Note(name: edit.name, revision: (old?.revision ?? 0) + 1, text: text)
      try db.execute(
        sql: "INSERT OR REPLACE INTO note VALUES (?, ?, ?, ?, ?)",
        arguments: [edit.zone.owner, edit.zone.name, new.name, text, new.revision])
      let content = RelayEvent.Content(
        zoneID: edit.zone, record: .init(recordName: new.name, recordChangeTag: "\(new.revision)"),
        changedBy: .init(userRecordName: user, clientId: installation))
      let kind = text == nil ? "deleted" : old?.text == nil ? "created" : "updated"
      try Self.addToOutbox(.init(id: edit.id, type: "zonerelay.record.\(kind)", data: content), db)
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

  func share(_ zone: ZoneID, with participant: String) async throws {
    try await database.write { db in
      try db.execute(
        literal: "INSERT OR IGNORE INTO share VALUES (\(zone.owner), \(zone.name), \(participant))")
      let content = RelayEvent.Content(
        zoneID: zone, participant: participant, changedBy: .init(userRecordName: zone.owner))
      try Self.addToOutbox(.init(id: UUID(), type: "zonerelay.share.granted", data: content), db)
    }
  }

  func waitingEvents(atMost count: Int) async throws -> [WaitingEvent] {
    let now = Date().timeIntervalSince1970
    let request: SQLRequest<WaitingEvent> =
      "SELECT * FROM outbox WHERE notBefore <= \(now) ORDER BY number LIMIT \(count)"
    return try await database.read { try request.fetchAll($0) }
  }

  /// Marks these and older events of their subjects as answered: the relay needs only the newest.
  func mark(_ events: [WaitingEvent], _ refusals: [Int: Refusal]) async throws {
    try await database.write { db in
      for (place, event) in events.enumerated() {
        let refusal = refusals[place]
        try db.execute(
          literal: """
            UPDATE outbox SET notBefore = \(refusal?.notBefore), refusal = \(refusal?.reason)
            WHERE notBefore IS NOT NULL AND number <= \(event.number) AND subject = \(event.subject)
            """)
      }
    }
  }

  private static func addToOutbox(_ event: RelayEvent, _ db: Database) throws {
    let texts = [try JSONEncoder().encode(event.data.subject), try JSONEncoder().encode(event)]
    try db.execute(
      sql: "INSERT INTO outbox (subject, json) VALUES (?, ?)",
      arguments: StatementArguments(texts.map { String(decoding: $0, as: UTF8.self) }))
  }

  private static func note(_ name: String, in zone: ZoneID, _ db: Database) throws -> Note? {
    let request: SQLRequest<Note> = "SELECT * FROM note WHERE \(zone.condition) AND name = \(name)"
    return try request.fetchOne(db)
  }

  private static func require(_ user: String, mayUse zone: ZoneID, _ db: Database) throws {
    let share: SQLRequest<Row> = "SELECT * FROM share WHERE \(zone.condition) AND user = \(user)"
    // Compares bytes, as SQLite does. For Swift, names that differ only in NFC and NFD are equal.
    guard try zone.owner.utf8.elementsEqual(user.utf8) || share.fetchOne(db) != nil else {
      throw HTTPError(.forbidden, message: "\(zone.name) is not shared with \(user)")
    }
  }
}

extension ZoneID { fileprivate var condition: SQL { "owner = \(owner) AND zone = \(name)" } }
extension Note: FetchableRecord {}
