import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// The name that a request and its answer use for the database feed's token: `syncToken` in
/// `changes/database`, `metaSyncToken` in its older form `zones/changes`.
enum DatabaseChangesNames {
  case new
  case old

  var token: StaticString {
    switch self {
    case .new: "syncToken"
    case .old: "metaSyncToken"
    }
  }

  /// Refuses a token that stands only under the other form's name. If the relay ignored such a
  /// token, the client would start from the beginning. A client may send its token under both
  /// names.
  func refuseOther(in body: JSONCursor) throws(JSONProblem) {
    let other: StaticString = self == .new ? "metaSyncToken" : "syncToken"
    if let stray = body.optional(other), let own = body.optional(token),
      try ByteOrdered.areSame(stray.string(), own.string())
    {
      return
    }
    switch self {
    case .new: try body.refuse(other, "is zones/changes' name; write syncToken")
    case .old: try body.refuse(other, "is not zones/changes' name; write metaSyncToken")
    }
  }
}

/// Answers `changes/database` and its older form `zones/changes`.
struct DatabaseChangesController: Sendable {
  let feeds: FeedAccess
  let relay: any RelayService
  let keys: any TokenKeys
  let limits: HTTPLimits

  /// Answers `changes/database` or `zones/changes`: which zones changed.
  func changes(
    _ body: JSONCursor, _ database: Database, _ caller: Caller, names: DatabaseChangesNames
  ) async throws -> Response {
    guard database != .public else { throw WireError.noSync }
    let feed = FeedKey(scope: caller.scope, kind: .database(caller.user, database))
    try names.refuseOther(in: body)
    if let digest = body.optional("digestToken") {
      return try await self.digest(
        feed, database, caller, names, from: try cursor(digest, feed, caller))
    }
    let start = try feeds.open(body[names.token], feed, caller)
    let limit = try feeds.pageLimit(body)
    switch try await feeds.page(feed, from: start, limit: limit, caller) {
    case .absent: throw WireError.zoneNotFound
    case .expired(let why):
      if let fact = why.fact(of: feed) { await feeds.report(lost: [fact], by: caller) }
      return try await digest(feed, database, caller, names, from: nil)
    case .page(let page):
      return answer(page, feed, database, caller, names)
    }
  }

  private func answer(
    _ page: Page, _ feed: FeedKey, _ database: Database, _ caller: Caller,
    _ names: DatabaseChangesNames
  ) -> Response {
    var json = JSONWriter(capacity: 256 + page.entries.count * 192)
    var listed: [ZoneID] = []
    json.beginObject()
    json.key("zones")
    json.beginArray()
    for (index, entry) in page.entries.enumerated() {
      guard case .zone(let zone) = entry.subject else { continue }
      listed.append(zone)
      json.beginObject()
      json.zoneID(zone)
      if entry.life.isPresent {
        let zoneFeed = FeedKey(scope: caller.scope, kind: .zone(zone))
        if index < page.zoneHeads.count {
          json.string("syncToken", feeds.seal(page.zoneHeads[index], zoneFeed, caller))
        }
      } else {
        json.boolean("deleted", true)
        if entry.life.state == .purged { json.boolean("purged", true) }
        if entry.life.state == .reset { json.boolean("reset", true) }
      }
      json.boolean("own", entry.life.isOwn(of: caller.client, since: page.since))
      json.endObject()
    }
    json.endArray()
    json.string(names.token, feeds.seal(page.next, feed, caller))
    json.boolean("moreComing", page.hasMore)
    json.endObject()
    let readings =
      listed.isEmpty
      ? [] : caller.device.map { [Reading(device: $0, reached: .listed(listed, database))] } ?? []
    return Response(json, served: readings, to: relay)
  }

  /// Answers an expired token with 410 and a page of the user's present zones, each with a token of
  /// its feed's head. So the client fetches only the zones whose token differs from the client's
  /// own.
  private func digest(
    _ feed: FeedKey, _ database: Database, _ caller: Caller, _ names: DatabaseChangesNames,
    from cursor: DigestCursor?
  ) async throws -> Response {
    try await feeds.visible(.feed(feed), until: caller.until)
    // The head is read before the zones. A zone that is created between the two reads is then
    // listed twice; in the other order it could be missing.
    let token: String
    if let cursor {
      token = cursor.token
    } else {
      let head = try await feeds.read(for: caller.id, until: caller.until) {
        () async throws(StoreError) in
        try await feeds.reader.head(of: feed)
      }
      token = feeds.seal(head, feed, caller)
    }
    let zones = try await feeds.read(for: caller.id, until: caller.until) {
      () async throws(StoreError) in
      try await feeds.reader.zones(
        of: caller.user, database, in: caller.scope, after: cursor?.after,
        limit: limits.pageEntries + 1)
    }
    let hasMore = zones.count > limits.pageEntries
    let shown = zones.prefix(limits.pageEntries)
    let error = WireError(
      .changeTokenExpired,
      "the token's history is gone; go on from syncToken, and fetch the zones whose token differs"
    )
    var json = JSONWriter()
    json.beginObject()
    error.write(into: &json)
    json.string("syncToken", token)
    if names == .old { json.string(names.token, token) }
    json.key("zones")
    json.beginArray()
    for digest in shown { write(digest, caller, into: &json) }
    json.endArray()
    json.boolean("moreComing", hasMore)
    if hasMore, let last = shown.last {
      json.string(
        "digestToken",
        SealedText.seal(
          [feed.digestName(keys), token, last.zone.owner.name, last.zone.name], for: .digest,
          with: keys))
    }
    json.endObject()
    return error.response(json)
  }

  private func write(_ digest: ZoneDigest, _ caller: Caller, into json: inout JSONWriter) {
    json.beginObject()
    json.zoneID(digest.zone)
    let feed = FeedKey(scope: caller.scope, kind: .zone(digest.zone))
    json.string("syncToken", feeds.seal(digest.head, feed, caller))
    json.endObject()
  }

  private struct DigestCursor {
    var token: String
    var after: ZoneID
  }

  /// The cursor in `value`; `nil` means that the cursor was sealed with a key that the relay no
  /// longer has, so the digest starts again.
  private func cursor(
    _ value: JSONCursor, _ feed: FeedKey, _ caller: Caller
  ) throws -> DigestCursor? {
    let text = try value.string()
    switch feeds.digest(in: text) {
    case .texts(let texts) where texts[0] == feed.digestName(keys):
      return DigestCursor(
        token: texts[1], after: ZoneID(name: texts[3], owner: UserID(texts[2])))
    case .texts, .foreign: throw WireError.foreignToken
    case .unknownKey: return nil
    case .garbled:
      // If the text is a change token of this relay, the error says that its kind is wrong.
      let token = Base64.bytes(text).map {
        ChangeToken.open($0, feed: feed, reader: caller.user, with: keys)
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
