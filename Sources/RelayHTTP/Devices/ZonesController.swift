import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// Answers `zones/list` and `zones/lookup`.
struct ZonesController: Sendable {
  let store: StoreAccess
  let feeds: FeedAccess
  let limits: HTTPLimits

  /// Answers `zones/list` with a page of the zones that the relay has seen and the user may see.
  /// The public database has only its default zone.
  func list(_ request: DeviceRequest, _ database: Database) async throws -> Response {
    let limit = try QueryParameters.pageLimit(
      request.body, query: request.query, atMost: limits.pageEntries)
    let after = try QueryParameters.marker(request).map { (marker) throws(WireError) in
      try ZoneID(marker: marker)
    }
    var zones: [ZoneDigest] = []
    if database != .public {
      let feed = request.feed(.database(request.user, database))
      zones = try await store.read(request, .feed(feed)) {
        try await store.reader.zones(
          of: request.user, database, in: request.scope, after: after, limit: limit + 1)
      }
    }
    let hasMore = zones.count > limit
    if hasMore { zones.removeLast() }
    return Response(
      .object(capacity: 64 + zones.count * 224) { json in
        json.beginArray("zones")
        if database == .public { write(.publicDefault, head: nil, request, into: &json) }
        for digest in zones { write(digest.zone, head: digest.head, request, into: &json) }
        json.endArray()
        if hasMore, let last = zones.last {
          json.string("continuationMarker", last.zone.marker)
          json.boolean("moreComing", true)
        }
      })
  }

  /// Answers `zones/lookup`, with one item for each zone, in the order of the request.
  func lookUp(_ request: DeviceRequest, _ database: Database) async throws -> Response {
    let asked = try request.body.items("zones", atMost: limits.operationsPerRequest)
    // An unreadable item gets its error in the loop below.
    try await store.visible(
      asked.compactMap { try? zone(named: $0, database, request) }
        .map { .feed(request.feed(.zone($0))) },
      until: request.until)
    var json = JSONWriter()
    json.beginObject()
    json.beginArray("zones")
    for item in asked {
      var zone: ZoneID?
      do {
        let named = try self.zone(named: item, database, request)
        zone = named
        let head = try await head(of: named, database, request)
        write(named, head: head, request, into: &json)
      } catch {
        let error = try WireError(answering: error)
        if error.isOfTheRelay { throw error }
        let named = item.optional("zoneID") ?? item
        json.object { json in
          json.zoneID(zone, asked: named.isObject ? named : nil)
          error.write(into: &json)
        }
      }
      try request.answer.grow(to: json.bytes.count)
    }
    json.endArray()
    json.endObject()
    return Response(json)
  }

  /// Reads a zone id: in the item's member `zoneID`, as in all other requests, or in the item
  /// itself.
  private func zone(
    named item: JSONCursor, _ database: Database, _ request: DeviceRequest
  ) throws(JSONProblem) -> ZoneID {
    try Name.zone(
      item.optional("zoneID") ?? item, owner: request.owner(in: database), limits)
  }

  /// The head of a zone's feed; nil for a default zone, which exists everywhere and cannot be
  /// synced.
  private func head(
    of zone: ZoneID, _ database: Database, _ request: DeviceRequest
  ) async throws -> FeedCursor? {
    if zone.isDefault {
      guard zone.owner == request.owner(in: database), database != .shared else {
        throw WireError.zoneNotFound
      }
      return nil
    }
    guard database != .public, (zone.owner == request.user) == (database == .private) else {
      throw WireError.zoneNotFound
    }
    let feed = request.feed(.zone(zone))
    let query = PageQuery(feed: feed, reader: request.user, after: nil, limit: 1)
    let head: FeedCursor? = try await store.read(request) {
      guard case .page = try await store.reader.page(query) else { return nil }
      return try await store.reader.head(of: feed)
    }
    guard let head else { throw WireError.zoneNotFound }
    return head
  }

  private func write(
    _ zone: ZoneID, head: FeedCursor?, _ request: DeviceRequest, into json: inout JSONWriter
  ) {
    json.object { json in
      json.zoneID(zone)
      if let head { json.string("syncToken", feeds.seal(head, request.feed(.zone(zone)), request)) }
      json.boolean("atomic", !zone.isDefault)
    }
  }
}

extension JSONWriter {
  /// Writes the member `"zoneID": {…}`.
  mutating func zoneID(_ zone: ZoneID) {
    object("zoneID") { json in
      json.string("zoneName", zone.name)
      json.string("ownerRecordName", zone.owner.name)
    }
  }

  /// Writes the zone id of an item with an error: the zone, or what is readable of `asked`.
  mutating func zoneID(_ zone: ZoneID?, asked: JSONCursor?) {
    if let zone { return zoneID(zone) }
    guard let asked else { return }
    object("zoneID") { json in
      // A name that is no string is left out; the error that follows describes what is wrong.
      json.string("zoneName", ifAny: try? asked.optional("zoneName")?.string())
      json.string("ownerRecordName", ifAny: try? asked.optional("ownerRecordName")?.string())
    }
  }
}

/// The marker at the end of a page of zones: the next page begins after this zone. The marker names
/// a zone and gives access to nothing, so it is not signed.
extension ZoneID {
  /// The length of the owner's name, then the owner's name and the zone's name. The length shows
  /// where the second name begins, because names may contain any character.
  fileprivate var marker: String {
    Base64.urlText(Array("\(owner.name.utf8.count):\(owner.name)\(name)".utf8))
  }

  fileprivate init(marker: String) throws(WireError) {
    guard let bytes = Base64.bytes(marker), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let length = Int(String(decoding: bytes[..<colon], as: UTF8.self)), length >= 0,
      length <= bytes.count - colon - 1,
      let owner = String(validating: bytes[(colon + 1)..<(colon + 1 + length)], as: UTF8.self),
      let name = String(validating: bytes[(colon + 1 + length)...], as: UTF8.self)
    else {
      throw WireError(.badRequest, "continuationMarker must be one that zones/list gave")
    }
    self.init(name: name, owner: UserID(owner))
  }
}
