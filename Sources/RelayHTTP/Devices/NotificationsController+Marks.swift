import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

extension NotificationsController {
  /// Answers `notifications/markRead`, in the order of the request. For an id that was replaced by
  /// a newer notification, was trimmed or never existed, the answer is success and nothing changes.
  func markRead(_ body: JSONCursor, _ caller: Caller) async throws -> Response {
    let items = try body.items("notificationIDs", atMost: limits.operationsPerRequest)
    submissions.wrote(items: items.count, by: caller.id)
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
      let answers = try await submissions.submit(
        [
          .markRead(
            ReadRequest(
              scope: caller.scope, user: caller.user, client: caller.client, notifications: marks))
        ], for: caller.id)
      if case .refused(let refusal)? = answers.first { throw WireError(refusal) }
    }
    var json = JSONWriter()
    json.beginObject()
    json.key("notifications")
    json.beginArray()
    for (id, problem) in results {
      json.beginObject()
      json.string("notificationID", id)
      if let problem {
        WireError(problem).write(into: &json)
      } else {
        json.boolean("read", true)
      }
      json.endObject()
    }
    json.endArray()
    json.endObject()
    return Response(json)
  }

  /// Answers `badge/modify`: sets the user's badge counter for one topic, or for every topic if the
  /// request names none. Wakes no device.
  func setBadge(
    _ body: JSONCursor, _ caller: Caller, _ authenticator: ScopeAuthenticator
  ) async throws -> Response {
    let value = try body.required("badge")
    let badge = try value.integer()
    guard let badge = Int(exactly: badge), (0...Int(Int32.max)).contains(badge) else {
      throw value.problem("must be 0 to \(Int32.max)")
    }
    var topic: String?
    if body.optional("apnsTopic") != nil { topic = try authenticator.topic(in: body) }
    _ = try await submissions.submit(
      [
        .setBadge(
          BadgeRequest(scope: caller.scope, user: caller.user, topic: topic, badge: badge))
      ], for: caller.id)
    return .emptyObject
  }
}
