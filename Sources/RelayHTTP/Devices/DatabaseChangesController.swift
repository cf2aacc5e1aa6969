import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// The name that a request and its answer use for the database feed's token: `syncToken` in
/// `changes/database`, `metaSyncToken` in its older form `zones/changes`.
enum DatabaseChangesNames {
  case new
  case old

  var token: StaticString { self == .new ? "syncToken" : "metaSyncToken" }

  /// Refuses a token under the other form's name, unless the client sends the same token under both
  /// names. If the relay ignored a token that stands only under the other form's name, the client
  /// would start from the beginning.
  func refuseOther(in body: JSONCursor) throws(JSONProblem) {
    let other = self == .new ? DatabaseChangesNames.old : .new
    if let stray = body.optional(other.token), let own = body.optional(token),
      try ByteOrdered.areSame(stray.string(), own.string())
    {
      return
    }
    let verb = self == .new ? "is" : "is not"
    try body.refuse(other.token, "\(verb) zones/changes' name; write \(token)")
  }
}

/// Answers `changes/database` and its older form `zones/changes`.
struct DatabaseChangesController: Sendable {
  let store: StoreAccess
  let feeds: FeedAccess
  let relay: any RelayService
  let keys: any TokenKeys
  let limits: HTTPLimits

  /// Answers `changes/database` or `zones/changes`: which zones changed.
  func changes(
    _ request: DeviceRequest, _ database: Database, names: DatabaseChangesNames
  ) async throws -> Response {
    guard database != .public else { throw WireError.noSync }
    let feed = request.feed(.database(request.user, database))
    try names.refuseOther(in: request.body)
    if let value = request.body.optional("digestToken") {
      let cursor = try cursor(value, feed, request)
      return try await digest(feed, database, request, names, from: cursor)
    }
    guard let page = try await feeds.page(feed, after: request.body[names.token], request)?.page
    else {
      return try await digest(feed, database, request, names, from: nil)
    }
    let zones = page.entries.enumerated().compactMap { index, entry in
      if case .zone(let zone) = entry.subject { (index: index, zone: zone) } else { nil }
    }
    let json = JSONWriter.object(capacity: 256 + page.entries.count * 192) { json in
      json.objects("zones", zones) { json, listed in
        write(listed.zone, at: listed.index, of: page, request, into: &json)
      }
      json.string(names.token, feeds.seal(page.next, feed, request))
      json.boolean("moreComing", page.hasMore)
    }
    var readings: [Reading] = []
    if let device = request.device, !zones.isEmpty {
      readings = [Reading(device: device, reached: .listed(zones.map(\.zone), database))]
    }
    return Response(json, served: readings, to: relay)
  }

  private func write(
    _ zone: ZoneID, at index: Int, of page: Page, _ request: DeviceRequest,
    into json: inout JSONWriter
  ) {
    let life = page.entries[index].life
    json.zoneID(zone)
    if !life.isPresent {
      json.boolean("deleted", true)
      if life.state == .purged { json.boolean("purged", true) }
      if life.state == .reset { json.boolean("reset", true) }
    } else if index < page.zoneHeads.count {
      json.string(
        "syncToken", feeds.seal(page.zoneHeads[index], request.feed(.zone(zone)), request))
    }
    json.boolean("own", life.isOwn(of: request.client, since: page.since))
  }

  /// Answers an expired token with 410 and a page of the user's present zones, each with a token of
  /// its feed's head. So the client fetches only the zones whose token differs from the client's
  /// own.
  private func digest(
    _ feed: FeedKey, _ database: Database, _ request: DeviceRequest, _ names: DatabaseChangesNames,
    from cursor: DigestCursor?
  ) async throws -> Response {
    try await store.visible([.feed(feed)], until: request.until)
    // Read the feed's newest position before the zones. A zone that is created between the two
    // reads is then listed twice; in the other order it could be missing.
    let token =
      if let cursor { cursor.token } else {
        feeds.seal(
          try await store.read(request) { try await store.reader.head(of: feed) }, feed, request)
      }
    let zones = try await store.read(request) {
      try await store.reader.zones(
        of: request.user, database, in: request.scope, after: cursor?.after,
        limit: limits.pageEntries + 1)
    }
    let hasMore = zones.count > limits.pageEntries
    let shown = zones.prefix(limits.pageEntries)
    let error = WireError(
      .changeTokenExpired,
      "the token's history is gone; go on from syncToken, and fetch the zones whose token differs"
    )
    return error.response(
      .object { json in
        error.write(into: &json)
        json.string("syncToken", token)
        if names == .old { json.string(names.token, token) }
        json.objects("zones", shown) { json, digest in
          json.zoneID(digest.zone)
          let feed = request.feed(.zone(digest.zone))
          json.string("syncToken", feeds.seal(digest.head, feed, request))
        }
        json.boolean("moreComing", hasMore)
        if hasMore, let last = shown.last?.zone {
          let texts = [feed.digestName(keys), token, last.owner.name, last.name]
          json.string("digestToken", SealedText.seal(texts, for: .digest, with: keys))
        }
      })
  }

  private typealias DigestCursor = (token: String, after: ZoneID)

  /// The cursor in `value`; `nil` means that the cursor was sealed with a key that the relay no
  /// longer has, so the digest starts again.
  private func cursor(
    _ value: JSONCursor, _ feed: FeedKey, _ request: DeviceRequest
  ) throws -> DigestCursor? {
    let text = try value.string()
    switch feeds.digest(in: text) {
    case .texts(let texts) where texts[0] == feed.digestName(keys):
      return (texts[1], ZoneID(name: texts[3], owner: UserID(texts[2])))
    case .texts, .foreign: throw WireError.foreignToken
    case .unknownKey: return nil
    case .garbled:
      // If the text is a change token of this relay, the error says that the text is a token of the
      // wrong kind.
      let token = Base64.bytes(text).map {
        ChangeToken.open($0, feed: feed, reader: request.user, with: keys)
      }
      throw (token ?? .garbled) == .garbled ? WireError.garbledToken : WireError.foreignToken
    }
  }
}

extension FeedKey {
  /// A short hash of the feed's text, which binds a digest's cursor to its feed.
  fileprivate func digestName(_ keys: any TokenKeys) -> String {
    Hex.text(keys.digest(Array(text.utf8)).prefix(8))
  }
}
