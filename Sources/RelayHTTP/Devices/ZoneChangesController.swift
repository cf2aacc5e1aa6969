import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// Answers `changes/zone` and its older form `records/changes`.
struct ZoneChangesController: Sendable {
  let feeds: FeedAccess
  let relay: any RelayService
  let limits: HTTPLimits

  /// Answers `changes/zone`: which records of several zones changed, in the order of the request.
  func changes(
    _ body: JSONCursor, _ database: Database, _ caller: Caller
  ) async throws -> Response {
    guard database != .public else { throw WireError.noSync }
    try body.refuse("syncToken", "belongs to its zone: write it in the item of zones")
    let asked = try body.items("zones", atMost: limits.operationsPerRequest)
    // An unreadable item gets its error in the loop below.
    try await feeds.visible(
      asked.compactMap { try? ZoneRequest($0, database, caller, limits).zone }
        .map { .feed(FeedKey(scope: caller.scope, kind: .zone($0))) },
      until: caller.until)
    var collected = ZonePages()
    var json = JSONWriter(capacity: 4_096)
    json.beginObject()
    json.key("zones")
    json.beginArray()
    for item in asked {
      json.beginObject()
      var zone: ZoneID?
      do {
        let request = try ZoneRequest(item, database, caller, limits)
        zone = request.zone
        let page = try await page(of: request, database, caller, &collected)
        json.zoneID(request.zone)
        write(page, request, caller, into: &json)
      } catch let error as WireError {
        if error.isOfTheRelay { throw error }
        write(error, of: item, zone, into: &json)
      } catch let problem as JSONProblem {
        write(WireError(problem), of: item, zone, into: &json)
      }
      json.endObject()
      // This text stays in memory while the next page waits for its turn, so its bytes are counted.
      try caller.answer.grow(to: json.bytes.count)
    }
    json.endArray()
    json.endObject()
    await feeds.report(lost: collected.lost, by: caller)
    return Response(json, served: collected.readings, to: relay)
  }

  /// Answers `records/changes`, the older form for one zone. An error fails the whole request.
  func recordChanges(
    _ body: JSONCursor, _ database: Database, _ caller: Caller
  ) async throws -> Response {
    let request = try ZoneRequest(body, database, caller, limits)
    try await feeds.visible(
      .feed(FeedKey(scope: caller.scope, kind: .zone(request.zone))), until: caller.until)
    var collected = ZonePages()
    do {
      let page = try await page(of: request, database, caller, &collected)
      var json = JSONWriter(capacity: 256 + page.entries.count * 224)
      json.beginObject()
      write(page, request, caller, into: &json)
      json.endObject()
      return Response(json, served: collected.readings, to: relay)
    } catch {
      await feeds.report(lost: collected.lost, by: caller)
      throw error
    }
  }

  /// What the reads of several zones have produced besides the pages.
  private struct ZonePages {
    var readings: [Reading] = []
    var lost: [Fact] = []
    var entries = 0
  }

  private func page(
    of request: ZoneRequest, _ database: Database, _ caller: Caller,
    _ collected: inout ZonePages
  ) async throws -> Page {
    guard !request.zone.isDefault, database != .public else { throw WireError.noSync }
    let isOwn = request.zone.owner == caller.user
    guard isOwn == (database == .private) else { throw WireError.zoneNotFound }
    let feed = FeedKey(scope: caller.scope, kind: .zone(request.zone))
    let start = try feeds.open(request.token, feed, caller)
    // A page has room for at least one entry, because a page with `moreComing` must advance.
    let limit = max(
      1, min(try feeds.pageLimit(request.body), limits.entriesPerRequest - collected.entries))
    switch try await feeds.visiblePage(feed, from: start, limit: limit, caller) {
    case .absent: throw WireError.zoneNotFound
    case .expired(let why):
      if let fact = why.fact(of: feed) { collected.lost.append(fact) }
      throw WireError(
        .changeTokenExpired, "the token's history is gone; fetch the zone from the beginning")
    case .page(let page):
      collected.entries += page.entries.count
      if let device = caller.device {
        if let presented = start.presented {
          relay.served(
            Reading(
              device: device, reached: .zone(request.zone, database, presented), proof: .token))
        }
        collected.readings.append(
          Reading(device: device, reached: .zone(request.zone, database, page.next.position)))
      }
      return page
    }
  }

  private func write(
    _ error: WireError, of item: JSONCursor, _ zone: ZoneID?, into json: inout JSONWriter
  ) {
    if let zone {
      json.zoneID(zone)
    } else {
      ZoneRequest.echo(item.optional("zoneID"), into: &json)
    }
    error.write(into: &json)
  }

  private func write(
    _ page: Page, _ request: ZoneRequest, _ caller: Caller, into json: inout JSONWriter
  ) {
    json.key("records")
    json.beginArray()
    let owner = request.zone.owner
    let device = caller.client?.device(of: caller.user, in: owner)
    for entry in request.isReversed ? page.entries.reversed() : page.entries {
      guard case .record(let name) = entry.subject,
        case .record(let type, let tag, let author) = entry.detail,
        type.isEmpty || request.types?.contains(.string(type)) ?? true
      else { continue }
      json.beginObject()
      json.string("recordName", name)
      if entry.life.isPresent {
        json.string("recordType", type)
        json.string("recordChangeTag", ifAny: tag)
        json.key("modified")
        json.beginObject()
        json.integer("timestamp", entry.life.time.milliseconds)
        // A participant must not see devices of the owner or of other participants.
        if (author ?? owner) == caller.user {
          json.string(
            "deviceID", ifAny: entry.life.device?.device(of: caller.user, in: owner).text)
        }
        json.endObject()
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
    let feed = FeedKey(scope: caller.scope, kind: .zone(request.zone))
    json.string("syncToken", feeds.seal(page.next, feed, caller))
    json.boolean("moreComing", page.hasMore)
    if page.hasGap { json.boolean("gap", true) }
  }
}
