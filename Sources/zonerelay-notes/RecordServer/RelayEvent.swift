import Foundation
import ZoneRelayClient

/// A change as the relay hears of it, without the note's text. The relay takes an `id` only once.
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
