import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// Answers `subscriptions/…`: saves, deletes, lists and looks up subscriptions.
struct SubscriptionsController: Sendable {
  let feeds: FeedAccess
  let submissions: Submissions
  let limits: HTTPLimits

  /// Answers `subscriptions/modify`: submits all valid operations as one fact. In the answer, the
  /// error of an invalid operation stands in the place of that operation.
  func modify(
    _ body: JSONCursor, _ database: Database, _ caller: Caller
  ) async throws -> Response {
    let items = try body.items("operations", atMost: limits.operationsPerRequest)
    submissions.wrote(items: items.count, by: caller.id)
    let reader = SubscriptionReader(database: database, user: caller.user, limits: limits)
    var operations: [SubscriptionsRequest.Operation] = []
    /// One element for each operation; `nil` means that the operation is valid and is submitted.
    var refusals: [RefusedItem?] = []
    for item in items {
      var id: String?
      do {
        operations.append(try Self.operation(item, reader, &id))
        refusals.append(nil)
      } catch let error as WireError {
        refusals.append(RefusedItem(id: id, error: error))
      } catch let problem as JSONProblem {
        refusals.append(RefusedItem(id: id, error: WireError(problem)))
      }
    }
    let answers = try await answers(to: operations, database, caller)
    return Self.response(to: refusals, answers)
  }

  /// Answers `subscriptions/list` with a page of subscriptions, in the order in which they were
  /// created. The page begins after the marker of the previous page, and ends when it has reached
  /// the limit of entries or of bytes. A changed subscription keeps its place in the order.
  func list(
    _ list: ListRequest, _ database: Database, _ caller: Caller
  ) async throws -> Response {
    let (after, limit) = (list.after ?? .zero, list.limit)
    try await feeds.visible(.subscriptions(caller.scope, caller.user), until: caller.until)
    let found = try await feeds.read(for: caller.id, until: caller.until) {
      () async throws(StoreError) in
      try await feeds.reader.subscriptions(
        of: caller.user, database, in: caller.scope, after: after, limit: limit + 1)
    }
    var rest = found[...]
    var last: Position?
    var json = JSONWriter(capacity: 64 + min(limit, found.count) * 256)
    json.beginObject()
    json.key("subscriptions")
    json.beginArray()
    // The loop counts bytes of JSON text, in which a control character takes six bytes.
    while found.count - rest.count < limit, json.bytes.count < limits.subscriptionAnswerBytes,
      let row = rest.popFirst()
    {
      SubscriptionText.write(row.subscription, into: &json)
      last = row.serial
    }
    json.endArray()
    // The last page has no `moreComing` and no marker, as in CloudKit's queries.
    if !rest.isEmpty, let last {
      json.boolean("moreComing", true)
      json.string("continuationMarker", ListRequest.marker(after: last))
    }
    json.endObject()
    return Response(json)
  }

  func lookUp(
    _ body: JSONCursor, _ database: Database, _ caller: Caller
  ) async throws -> Response {
    let items = try body.items("subscriptions", atMost: limits.operationsPerRequest)
    let asked = items.map { item in
      Result { () throws(JSONProblem) in
        SubscriptionID(try item.object().required("subscriptionID").string())
      }
    }
    // An item without a readable id gets its error when the answer is written.
    let ids = asked.compactMap { try? $0.get() }
    try await feeds.visible(.subscriptions(caller.scope, caller.user), until: caller.until)
    let found = try await feeds.read(for: caller.id, until: caller.until) {
      () async throws(StoreError) in
      try await feeds.reader.subscriptions(named: ids, of: caller.user, database, in: caller.scope)
    }
    let known = Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
    var json = JSONWriter()
    json.beginObject()
    json.key("subscriptions")
    json.beginArray()
    for item in asked {
      switch item {
      case .success(let id):
        if json.bytes.count >= limits.subscriptionAnswerBytes {
          // One request may name the same subscription two hundred times, so the answer is bounded.
          RefusedItem(id: id.name, error: Self.answerIsFull).write(into: &json)
        } else if let subscription = known[id] {
          SubscriptionText.write(subscription, into: &json)
        } else {
          RefusedItem(id: id.name, error: WireError(.unknownSubscription)).write(into: &json)
        }
      case .failure(let problem):
        RefusedItem(id: nil, error: WireError(problem)).write(into: &json)
      }
    }
    json.endArray()
    json.endObject()
    return Response(json)
  }

  private static let answerIsFull = WireError(
    .quotaExceeded, "the answer is as large as it may be; look this one up in another request")

  /// Reads one operation.
  ///
  /// - Parameter id: set to the item's id as soon as the id is read, so that an error can name it.
  private static func operation(
    _ item: JSONCursor, _ reader: SubscriptionReader, _ id: inout String?
  ) throws -> SubscriptionsRequest.Operation {
    try item.object().refuseOtherSpellings(of: KnownMembers.operation)
    let value = try item.required("subscription").object()
    let named = value.optional("subscriptionID")
    id = try named?.string()
    if let named { id = try Name.read(named, reader.limits) }
    try value.refuseOtherSpellings(of: KnownMembers.subscription)
    let type = try item.required("operationType")
    switch Spelled(try type.string()) {
    case "create", "update", "forceUpdate":
      let name = id ?? RandomID.text()
      return .save(try reader.subscription(value, id: SubscriptionID(name)))
    case "delete", "forceDelete":
      guard let id else { throw value.missing("subscriptionID") }
      return .delete(SubscriptionID(id))
    default:
      throw type.problem("must be \"create\", \"update\" or \"delete\"")
    }
  }

  private func answers(
    to operations: [SubscriptionsRequest.Operation], _ database: Database, _ caller: Caller
  ) async throws(WireError) -> [SubscriptionAnswer] {
    guard !operations.isEmpty else { return [] }
    let request = SubscriptionsRequest(
      scope: caller.scope, user: caller.user, database: database, operations: operations)
    switch try await submissions.submit([.modify(request)], for: caller.id).first {
    case .subscriptions(let answers): return answers
    case .refused(let refusal): throw WireError(refusal)
    default: throw WireError(.internalError, "the relay gave no answer to the subscriptions")
    }
  }

  private static func response(
    to refusals: [RefusedItem?], _ answers: [SubscriptionAnswer]
  ) -> Response {
    var json = JSONWriter()
    var rest = answers[...]
    json.beginObject()
    json.key("subscriptions")
    json.beginArray()
    for refusal in refusals {
      if let refusal {
        refusal.write(into: &json)
        continue
      }
      switch rest.popFirst() {
      case .saved(let subscription): SubscriptionText.write(subscription, into: &json)
      case .deleted(let id):
        json.beginObject()
        json.string("subscriptionID", id.name)
        json.boolean("deleted", true)
        json.endObject()
      case .refused(let id, let refusal):
        RefusedItem(id: id.name, error: WireError(refusal)).write(into: &json)
      case nil: break
      }
    }
    json.endArray()
    json.endObject()
    return Response(json)
  }
}

/// The error for a subscription that could not be saved, deleted or found.
private struct RefusedItem {
  var id: String?
  var error: WireError

  func write(into json: inout JSONWriter) {
    json.beginObject()
    json.string("subscriptionID", ifAny: id)
    error.write(into: &json)
    json.endObject()
  }
}
