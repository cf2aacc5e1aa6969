import RelayCore
import RelayWire

/// One zone of a `changes/zone` request, or a whole `records/changes` request.
struct ZoneRequest {
  let zone: ZoneID
  let token: JSONCursor?
  let body: JSONCursor
  /// The record types to show; `nil` means all types.
  let types: Set<FieldValue>?
  /// True if each page lists its newest entries first. The order of the pages is the same as
  /// without `reverse`, so that a client that follows the tokens misses nothing (P2).
  let isReversed: Bool

  init(
    _ body: JSONCursor, _ database: Database, _ caller: Caller, _ limits: HTTPLimits
  ) throws(JSONProblem) {
    try body.object().refuseOtherSpellings(of: KnownMembers.zone)
    try body.refuse("metaSyncToken", "is zones/changes' name; write syncToken")
    let owner = database == .public ? ZoneID.publicDefault.owner : caller.user
    zone = try Name.zone(body.required("zoneID"), owner: owner, limits)
    token = body["syncToken"]
    self.body = body
    isReversed = try body.optional("reverse")?.boolean() ?? false
    guard let wanted = body.optional("desiredRecordTypes") else {
      types = nil
      return
    }
    var types: Set<FieldValue> = []
    for type in try wanted.elements() { types.insert(.string(try type.string())) }
    self.types = types
  }

  /// Writes an item's zone id into the item's error, as far as the zone id is readable.
  static func echo(_ zone: JSONCursor?, into json: inout JSONWriter) {
    guard let zone else { return }
    json.key("zoneID")
    json.beginObject()
    // A name that is no string is left out; the error that follows describes what is wrong.
    json.string("zoneName", ifAny: try? zone.optional("zoneName")?.string())
    json.string("ownerRecordName", ifAny: try? zone.optional("ownerRecordName")?.string())
    json.endObject()
  }
}
