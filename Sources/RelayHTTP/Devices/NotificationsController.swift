import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// Answers `notifications/…` and `badge/modify`.
struct NotificationsController: Sendable {
  let store: StoreAccess
  let feeds: FeedAccess
  let submissions: Submissions
  let relay: any RelayService
  let limits: HTTPLimits

  /// Answers `notifications/changes` with a page of the user's notifications.
  func changes(_ request: DeviceRequest) async throws -> Response {
    let feed = request.feed(.notifications(request.user))
    try request.body.refuse("metaSyncToken", "is zones/changes' name; write syncToken")
    guard let (start, page) = try await feeds.page(feed, after: request.body["syncToken"], request)
    else {
      let head = try await store.read(request) { try await store.reader.head(of: feed) }
      let error = WireError(
        .changeTokenExpired,
        "the token's history is gone: look at the databases, then go on from syncToken")
      return error.response(
        .object { json in
          error.write(into: &json)
          json.string("syncToken", feeds.seal(head, feed, request))
        })
    }
    let readings = feeds.readings(of: page, from: start, request) { .notifications($0) }
    let json = JSONWriter.object(capacity: 256 + page.entries.count * 352) { json in
      json.beginArray("notifications")
      for entry in page.entries { write(entry, since: page.since, request, into: &json) }
      json.endArray()
      json.string("syncToken", feeds.seal(page.next, feed, request))
      json.boolean("moreComing", page.hasMore)
    }
    return Response(json, served: readings, to: relay)
  }

  private func write(
    _ entry: Entry, since: Position, _ request: DeviceRequest, into json: inout JSONWriter
  ) {
    guard case .notification(let subscription, let zone, let record) = entry.subject,
      case .notification(let detail) = entry.detail
    else { return }
    json.object { json in
      json.string("notificationID", detail.notification.text)
      json.string("subscriptionID", subscription.name)
      let isMark = detail.isReadMark(since: since)
      json.string("notificationType", isMark ? "read" : detail.kind.name)
      json.string("database", detail.database.name)
      json.zoneID(zone)
      json.string("recordName", ifAny: record)
      if detail.kind == .query, !isMark {
        let reason = NotificationDetail.reason(entry.life, at: since)
        json.string("queryNotificationReason", reason.name)
      }
      json.integer("timestamp", entry.life.time.milliseconds)
      json.boolean("own", entry.isOwn(of: request.client, since: since))
      json.boolean("read", detail.isRead)
    }
  }

  /// Answers `notifications/markRead`, in the order of the request. For an id that was replaced by
  /// a newer notification, was trimmed or never existed, the answer is success and nothing changes.
  func markRead(_ request: DeviceRequest) async throws -> Response {
    let items = try request.body.items("notificationIDs", atMost: limits.operationsPerRequest)
    submissions.wrote(items: items.count, request)
    var marks: [Identifier] = []
    var results: [(id: String, problem: JSONProblem?)] = []
    for item in items {
      let text = try item.string()
      guard let id = Identifier(text: text) else {
        results.append((text, item.problem("must be a UUID, as notifications/changes gave it")))
        continue
      }
      marks.append(id)
      results.append((id.text, nil))
    }
    if !marks.isEmpty {
      let read = ReadRequest(
        scope: request.scope, user: request.user, client: request.client, notifications: marks)
      try await submissions.submit(.markRead(read), request)
    }
    return Response(
      .object { json in
        json.objects("notifications", results) { json, result in
          json.string("notificationID", result.id)
          if let problem = result.problem {
            WireError(problem).write(into: &json)
          } else {
            json.boolean("read", true)
          }
        }
      })
  }

  /// Answers `badge/modify`: sets the user's badge counter for one topic, or for every topic if the
  /// request names none. Wakes no device.
  func setBadge(_ request: DeviceRequest) async throws -> Response {
    let value = try request.body.required("badge")
    guard let badge = Int32(exactly: try value.integer()), badge >= 0 else {
      throw value.problem("must be 0 to \(Int32.max)")
    }
    let isOfOne = request.body.optional("apnsTopic") != nil
    let topic = isOfOne ? try request.authenticator.topic(in: request.body) : nil
    try await submissions.submit(
      .setBadge(
        BadgeRequest(
          scope: request.scope, user: request.user, topic: topic, badge: Int(badge))), request)
    return .emptyObject
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
