import Foundation
import ZoneRelayClient

/// The event that tells the relay of a change, without the note's text. A repeated `id` is ignored.
struct RelayEvent: Encodable {
  struct Record: Encodable { var recordName: String, recordType = "Note", recordChangeTag: String }
  struct Author: Encodable { var userRecordName: String, clientId: UUID? = nil }
  /// `database` is as the zone's owner sees it. `participant` may see the zone from now on.
  struct Content: Encodable {
    var zoneID: ZoneID, database = "private", record: Record? = nil, participant: String? = nil
    var changedBy: Author
  }

  var id: UUID, type: String, data: Content, specversion = "1.0", source = "/notes"
}
