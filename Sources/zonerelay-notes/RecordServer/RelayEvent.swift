import Foundation
import ZoneRelayClient

/// A change as the relay hears of it: a CloudEvent, without the note's text. The relay takes an
/// `id` once, however often it comes.
struct RelayEvent: Encodable {
  enum Kind: String, Encodable {
    case created = "zonerelay.record.created", updated = "zonerelay.record.updated"
    case deleted = "zonerelay.record.deleted", shared = "zonerelay.share.granted"
  }

  struct Record: Encodable { var recordName: String, recordType = "Note", recordChangeTag: String }
  struct Author: Encodable { var userRecordName: String, clientId: UUID? = nil }
  /// `database` is as the zone's owner sees it. `participant` may see the zone from now on.
  struct Content: Encodable {
    var database = "private"
    var zoneID: ZoneID
    var record: Record?
    var participant: String?
    var changedBy: Author
  }

  var specversion = "1.0", source = "/notes"
  var id: UUID, type: Kind, data: Content
}
