import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// Answers `notifications/…` and `badge/modify`.
struct NotificationsController: Sendable {
  let feeds: FeedAccess
  let submissions: Submissions
  let relay: any RelayService
  let limits: HTTPLimits

  /// Answers `notifications/changes` with a page of the user's notifications.
  func notifications(_ body: JSONCursor, _ caller: Caller) async throws -> Response {
    let feed = FeedKey(scope: caller.scope, kind: .notifications(caller.user))
    try body.refuse("metaSyncToken", "is zones/changes' name; write syncToken")
    let start = try feeds.open(body["syncToken"], feed, caller)
    let limit = try feeds.pageLimit(body)
    switch try await feeds.page(feed, from: start, limit: limit, caller) {
    case .absent: throw WireError.zoneNotFound
    case .expired(let why):
      if let fact = why.fact(of: feed) { await feeds.report(lost: [fact], by: caller) }
      return try await notificationsExpired(feed, caller)
    case .page(let page):
      var readings: [Reading] = []
      if let device = caller.device {
        if let presented = start.presented {
          relay.served(
            Reading(device: device, reached: .notifications(presented), proof: .token))
        }
        readings = [Reading(device: device, reached: .notifications(page.next.position))]
      }
      return Response(text(of: page, feed, caller), served: readings, to: relay)
    }
  }

  private func notificationsExpired(_ feed: FeedKey, _ caller: Caller) async throws -> Response {
    let head = try await feeds.read(for: caller.id, until: caller.until) {
      () async throws(StoreError) in
      try await feeds.reader.head(of: feed)
    }
    let error = WireError(
      .changeTokenExpired,
      "the token's history is gone: look at the databases, then go on from syncToken")
    var json = JSONWriter()
    json.beginObject()
    error.write(into: &json)
    json.string("syncToken", feeds.seal(head, feed, caller))
    json.endObject()
    return error.response(json)
  }

  private func text(of page: Page, _ feed: FeedKey, _ caller: Caller) -> JSONWriter {
    var json = JSONWriter(capacity: 256 + page.entries.count * 352)
    json.beginObject()
    json.key("notifications")
    json.beginArray()
    for entry in page.entries {
      guard case .notification(let subscription, let zone, let record) = entry.subject,
        case .notification(let detail) = entry.detail
      else { continue }
      json.beginObject()
      json.string("notificationID", detail.notification.text)
      json.string("subscriptionID", subscription.name)
      let isMark = detail.isReadMark(since: page.since)
      json.string("notificationType", isMark ? "read" : detail.kind.name)
      json.string("database", detail.database.name)
      json.zoneID(zone)
      json.string("recordName", ifAny: record)
      if detail.kind == .query, !isMark {
        let reason = NotificationDetail.reason(entry.life, at: page.since)
        json.string("queryNotificationReason", reason.name)
      }
      json.integer("timestamp", entry.life.time.milliseconds)
      json.boolean("own", entry.isOwn(of: caller.client, since: page.since))
      json.boolean("read", detail.isRead)
      json.endObject()
    }
    json.endArray()
    json.string("syncToken", feeds.seal(page.next, feed, caller))
    json.boolean("moreComing", page.hasMore)
    json.endObject()
    return json
  }
}

extension NotificationDetail.Kind {
  fileprivate var name: String {
    switch self {
    case .query: "query"
    case .zone: "zone"
    case .database: "database"
    }
  }
}

extension NotificationDetail.Reason {
  fileprivate var name: String {
    switch self {
    case .created: "created"
    case .updated: "updated"
    case .deleted: "deleted"
    }
  }
}
