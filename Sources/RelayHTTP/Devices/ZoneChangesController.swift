import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// Answers `changes/zone` and its older form `records/changes`.
struct ZoneChangesController: Sendable {
  let store: StoreAccess
  let feeds: FeedAccess
  let relay: any RelayService
  let limits: HTTPLimits

  /// Answers `changes/zone`: which records changed in several zones. The zones are in the order of
  /// the request.
  func changes(_ request: DeviceRequest, _ database: Database) async throws -> Response {
    guard database != .public else { throw WireError.noSync }
    try request.body.refuse("syncToken", "belongs to its zone: write it in the item of zones")
    let asked = try request.body.items("zones", atMost: limits.operationsPerRequest)
    // An unreadable item gets its error in the loop below.
    try await store.visible(
      asked.compactMap { try? ZoneQuery($0, database, request, limits).feed }.map { .feed($0) },
      until: request.until)
    var collected = ZonePages()
    var json = JSONWriter(capacity: 4_096)
    json.beginObject()
    json.beginArray("zones")
    for item in asked {
      json.beginObject()
      var zone: ZoneID?
      do {
        let query = try ZoneQuery(item, database, request, limits)
        zone = query.zone
        let page = try await page(of: query, database, request, &collected)
        json.zoneID(query.zone)
        write(page, query, request, into: &json)
      } catch {
        let error = try WireError(answering: error)
        if error.isOfTheRelay { throw error }
        json.zoneID(zone, asked: item.optional("zoneID"))
        error.write(into: &json)
      }
      json.endObject()
      // This text stays in memory while the next page waits for its turn, so the bytes of the text
      // are counted.
      try request.answer.grow(to: json.bytes.count)
    }
    json.endArray()
    json.endObject()
    await feeds.report(lost: collected.lost, request)
    return Response(json, served: collected.readings, to: relay)
  }

  /// Answers `records/changes`, the older form of `changes/zone` for one zone. An error fails the
  /// whole request.
  func recordChanges(_ request: DeviceRequest, _ database: Database) async throws -> Response {
    let query = try ZoneQuery(request.body, database, request, limits)
    try await store.visible([.feed(query.feed)], until: request.until)
    var collected = ZonePages()
    do {
      let page = try await page(of: query, database, request, &collected)
      let json = JSONWriter.object(capacity: 256 + page.entries.count * 224) {
        write(page, query, request, into: &$0)
      }
      return Response(json, served: collected.readings, to: relay)
    } catch {
      await feeds.report(lost: collected.lost, request)
      throw error
    }
  }

  /// What the relay collects over the zones of one request, besides the pages of its answer.
  private struct ZonePages {
    var readings: [Reading] = []
    var lost: [Fact] = []
    var entries = 0
  }

  private func page(
    of query: ZoneQuery, _ database: Database, _ request: DeviceRequest,
    _ collected: inout ZonePages
  ) async throws -> Page {
    guard !query.zone.isDefault, database != .public else { throw WireError.noSync }
    let isOwn = query.zone.owner == request.user
    guard isOwn == (database == .private) else { throw WireError.zoneNotFound }
    let start = try feeds.open(query.token, query.feed, request)
    // A page has room for at least one entry, so that a client that follows `moreComing` advances.
    let most = try QueryParameters.pageLimit(query.body, atMost: limits.pageEntries)
    let limit = max(1, min(most, limits.entriesPerRequest - collected.entries))
    let page = try await feeds.page(query.feed, from: start, limit: limit, request, &collected.lost)
    guard let page else {
      throw WireError(
        .changeTokenExpired, "the token's history is gone; fetch the zone from the beginning")
    }
    collected.entries += page.entries.count
    collected.readings += feeds.readings(of: page, from: start, request) {
      .zone(query.zone, database, $0)
    }
    return page
  }

  private func write(
    _ page: Page, _ query: ZoneQuery, _ request: DeviceRequest, into json: inout JSONWriter
  ) {
    json.beginArray("records")
    let owner = query.zone.owner
    let device = request.client?.device(of: request.user, in: owner)
    for entry in query.isReversed ? page.entries.reversed() : page.entries {
      guard case .record(let name) = entry.subject,
        case .record(let type, let tag, let author) = entry.detail,
        type.isEmpty || query.types?.contains(.string(type)) ?? true
      else { continue }
      json.beginObject()
      json.string("recordName", name)
      if entry.life.isPresent {
        json.string("recordType", type)
        json.string("recordChangeTag", ifAny: tag)
        json.object("modified") { json in
          json.integer("timestamp", entry.life.time.milliseconds)
          // A participant must not see devices of the owner or of other participants.
          guard (author ?? owner) == request.user else { return }
          json.string(
            "deviceID", ifAny: entry.life.device?.device(of: request.user, in: owner).text)
        }
      } else {
        json.key("recordType")
        json.null()
        json.boolean("deleted", true)
        json.string("recordChangeTag", ifAny: tag)
      }
      json.boolean("own", entry.life.isOwn(of: device, since: page.since))
      json.endObject()
    }
    json.endArray()
    json.string("syncToken", feeds.seal(page.next, query.feed, request))
    json.boolean("moreComing", page.hasMore)
    if page.hasGap { json.boolean("gap", true) }
  }
}

/// One zone of a `changes/zone` request, or a whole `records/changes` request.
private struct ZoneQuery {
  let zone: ZoneID
  let feed: FeedKey
  let token: JSONCursor?
  let body: JSONCursor
  /// The record types to show; `nil` means all types.
  let types: Set<FieldValue>?
  /// True if each page lists its newest entries first. The order of the pages is the same as
  /// without `reverse`, so that a client that follows the tokens misses nothing (P2).
  let isReversed: Bool

  init(
    _ body: JSONCursor, _ database: Database, _ request: DeviceRequest, _ limits: HTTPLimits
  ) throws(JSONProblem) {
    try body.object().refuseOtherSpellings(of: KnownMembers.zone)
    try body.refuse("metaSyncToken", "is zones/changes' name; write syncToken")
    zone = try Name.zone(body.required("zoneID"), owner: request.owner(in: database), limits)
    feed = request.feed(.zone(zone))
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
}
