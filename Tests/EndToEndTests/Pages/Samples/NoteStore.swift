import Foundation
import GRDB

// docs/outbox.md shows the code between the sample comments below.

// The pages show the lines from here as their sample "notes".
/// The notes of a record server. `outbox.sql` has made the tables.
struct NoteStore {
  let database: DatabaseQueue

  /// Saves a note, or deletes it if its text is nil, together with what is to be reported.
  func change(_ name: String, in zone: String, of owner: String, to text: String?) throws {
    let tag = UUID().uuidString
    let key = ["owner": owner, "zone": zone, "name": name]
    // One transaction: both rows, or none.
    try database.write { db in
      let isOld = try Bool.fetchOne(
        db,
        sql: "SELECT 1 FROM note WHERE (owner, zone, name) = (:owner, :zone, :name)",
        arguments: StatementArguments(key))
      if let text {
        try db.execute(
          sql: "INSERT OR REPLACE INTO note VALUES (:owner, :zone, :name, :tag, :text)",
          arguments: StatementArguments(key.merging(["tag": tag, "text": text]) { $1 }))
      } else {
        try db.execute(
          sql: "DELETE FROM note WHERE (owner, zone, name) = (:owner, :zone, :name)",
          arguments: StatementArguments(key))
      }
      let verb = text == nil ? "deleted" : isOld == nil ? "created" : "updated"
      let data = ChangeData(
        zoneID: ["zoneName": zone, "ownerRecordName": owner],
        record: ["recordName": name, "recordType": "Note", "recordChangeTag": tag])
      try db.execute(
        sql: "INSERT INTO outbox (event_id, type, data) VALUES (?, ?, ?)",
        arguments: [
          tag, "zonerelay.record.\(verb)",
          String(decoding: try JSONEncoder().encode(data), as: UTF8.self),
        ])
    }
  }

  private struct ChangeData: Encodable {
    var database = "private"
    var zoneID: [String: String]
    var record: [String: String]
  }
}
// The sample ends here.
