import RelayCore
import RelayWire

/// One zone of a `changes/zone` request, or the whole of a `records/changes`.
struct ZoneRequest {
  let zone: ZoneID
  let token: JSONCursor?
  let body: JSONCursor
  /// Records of other types are left out; nil: all are shown.
  let types: Set<FieldValue>?
  /// True for newest first inside a page. Pages and tokens advance as always, so that a client that
  /// follows them misses nothing (P2).
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

  /// Writes an item's own key into its error, as far as the key is readable.
  static func echo(_ zone: JSONCursor?, into json: inout JSONWriter) {
    guard let zone else { return }
    json.key("zoneID")
    json.beginObject()
    // Only strings are repeated. If a value is of another kind, the error reports that.
    json.string("zoneName", ifAny: try? zone.optional("zoneName")?.string())
    json.string("ownerRecordName", ifAny: try? zone.optional("ownerRecordName")?.string())
    json.endObject()
  }
}
