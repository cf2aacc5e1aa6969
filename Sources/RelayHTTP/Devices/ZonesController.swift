import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// Answers `zones/list` and `zones/lookup`.
struct ZonesController: Sendable {
  let feeds: FeedAccess
  let limits: HTTPLimits

  /// Answers `zones/list` with a page of the zones that the relay has seen and the user may see.
  /// The public database has only its default zone.
  ///
  /// - Parameter query: the request's query, for the marker and limit of a GET.
  func list(
    _ database: Database, _ body: JSONCursor, query: String?, _ caller: Caller
  ) async throws -> Response {
    let limit = try ListRequest.limit(body, query, limits)
    let marker = try ListRequest.marker(body, query)
    let after = try marker.map { text throws(WireError) in try ZoneMarker(text: text).zone }
    var zones: [ZoneDigest] = []
    if database != .public {
      try await feeds.visible(
        .feed(FeedKey(scope: caller.scope, kind: .database(caller.user, database))),
        until: caller.until)
      zones = try await feeds.read(for: caller.id, until: caller.until) {
        () async throws(StoreError) in
        try await feeds.reader.zones(
          of: caller.user, database, in: caller.scope, after: after, limit: limit + 1)
      }
    }
    let hasMore = zones.count > limit
    if hasMore { zones.removeLast() }
    var json = JSONWriter(capacity: 64 + zones.count * 224)
    json.beginObject()
    json.key("zones")
    json.beginArray()
    if database == .public { write(.publicDefault, head: nil, caller, into: &json) }
    for digest in zones { write(digest.zone, head: digest.head, caller, into: &json) }
    json.endArray()
    if hasMore, let last = zones.last {
      json.string("continuationMarker", ZoneMarker(zone: last.zone).text)
      json.boolean("moreComing", true)
    }
    json.endObject()
    return Response(json)
  }

  /// Answers `zones/lookup`, with one item for each zone, in the order of the request.
  func lookUp(
    _ body: JSONCursor, _ database: Database, _ caller: Caller
  ) async throws -> Response {
    let asked = try body.items("zones", atMost: limits.operationsPerRequest)
    // An unreadable item gets its error in the loop below.
    try await feeds.visible(
      asked.compactMap { try? self.zone(named: $0, database, caller) }
        .map { .feed(FeedKey(scope: caller.scope, kind: .zone($0))) },
      until: caller.until)
    var json = JSONWriter()
    json.beginObject()
    json.key("zones")
    json.beginArray()
    for item in asked {
      var zone: ZoneID?
      var error: WireError?
      var head: FeedCursor?
      do throws(JSONProblem) {
        zone = try self.zone(named: item, database, caller)
      } catch {
        let named = item.optional("zoneID") ?? item
        json.beginObject()
        if named.isObject { ZoneRequest.echo(named, into: &json) }
        WireError(error).write(into: &json)
        json.endObject()
        continue
      }
      guard let zone else { continue }
      do throws(WireError) {
        head = try await self.head(of: zone, database, caller)
      } catch let trouble {
        if trouble.isOfTheRelay { throw trouble }
        error = trouble
      }
      write(zone, head: head, error: error, caller, into: &json)
      try caller.answer.grow(to: json.bytes.count)
    }
    json.endArray()
    json.endObject()
    return Response(json)
  }

  /// Reads a zone id: in the item's member `zoneID`, as in all other requests, or in the item
  /// itself.
  private func zone(
    named item: JSONCursor, _ database: Database, _ caller: Caller
  ) throws(JSONProblem) -> ZoneID {
    try Name.zone(
      item.optional("zoneID") ?? item,
      owner: database == .public ? ZoneID.publicDefault.owner : caller.user, limits)
  }

  /// The head of a zone's feed; nil for a default zone, which exists everywhere and cannot be
  /// synced.
  private func head(
    of zone: ZoneID, _ database: Database, _ caller: Caller
  ) async throws(WireError) -> FeedCursor? {
    if zone.isDefault {
      let owner = database == .public ? ZoneID.publicDefault.owner : caller.user
      guard zone.owner == owner, database != .shared else { throw .zoneNotFound }
      return nil
    }
    guard database != .public, (zone.owner == caller.user) == (database == .private) else {
      throw .zoneNotFound
    }
    let feed = FeedKey(scope: caller.scope, kind: .zone(zone))
    let query = PageQuery(feed: feed, reader: caller.user, after: nil, limit: 1)
    return try await feeds.read(for: caller.id, until: caller.until) {
      () async throws(StoreError) -> FeedCursor?? in
      guard case .page = try await feeds.reader.page(query) else { return .none }
      return .some(try await feeds.reader.head(of: feed))
    }.orThrow(.zoneNotFound)
  }

  private func write(
    _ zone: ZoneID, head: FeedCursor?, error: WireError? = nil, _ caller: Caller,
    into json: inout JSONWriter
  ) {
    json.beginObject()
    json.zoneID(zone)
    if let error {
      error.write(into: &json)
    } else {
      if let head {
        let feed = FeedKey(scope: caller.scope, kind: .zone(zone))
        json.string("syncToken", feeds.seal(head, feed, caller))
      }
      json.boolean("atomic", !zone.isDefault)
    }
    json.endObject()
  }
}

extension Optional {
  fileprivate func orThrow(_ error: WireError) throws(WireError) -> Wrapped {
    guard let self else { throw error }
    return self
  }
}
