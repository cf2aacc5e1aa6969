import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// Answers `subscriptions/…`: saves, deletes, lists and looks up subscriptions.
struct SubscriptionsController: Sendable {
  let store: StoreAccess
  let submissions: Submissions
  let limits: HTTPLimits

  /// Answers `subscriptions/modify`: submits all valid operations as one fact. In the answer, the
  /// error of an invalid operation stands in the place of that operation.
  func modify(_ request: DeviceRequest, _ database: Database) async throws -> Response {
    let items = try request.body.items("operations", atMost: limits.operationsPerRequest)
    submissions.wrote(items: items.count, request)
    let reader = SubscriptionReader(database: database, user: request.user, limits: limits)
    var operations: [SubscriptionsRequest.Operation] = []
    /// One element for each operation; `nil` means that the operation is valid and is submitted.
    var refusals: [RefusedItem?] = []
    for item in items {
      var id: String?
      do {
        operations.append(try reader.operation(item, &id))
        refusals.append(nil)
      } catch {
        refusals.append(RefusedItem(id: id, error: try WireError(answering: error)))
      }
    }
    var answers = try await answers(to: operations, database, request)[...]
    return Response(
      .object { json in
        json.beginArray("subscriptions")
        for refusal in refusals {
          if let refusal {
            refusal.write(into: &json)
          } else {
            answers.popFirst()?.write(into: &json)
          }
        }
        json.endArray()
      })
  }

  private func answers(
    to operations: [SubscriptionsRequest.Operation], _ database: Database, _ request: DeviceRequest
  ) async throws -> [SubscriptionAnswer] {
    guard !operations.isEmpty else { return [] }
    let fact = Fact.modify(
      SubscriptionsRequest(
        scope: request.scope, user: request.user, database: database, operations: operations))
    guard case .subscriptions(let answers) = try await submissions.submit(fact, request) else {
      throw WireError(.internalError, "the relay gave no answer to the subscriptions")
    }
    return answers
  }

  /// Answers `subscriptions/list` with a page of subscriptions, in the order in which they were
  /// created. The page begins after the marker of the previous page, and ends when it has reached
  /// the limit of entries or of bytes. A changed subscription keeps its place in the order.
  func list(_ request: DeviceRequest, _ database: Database) async throws -> Response {
    let after = try QueryParameters.marker(request).map { (marker) throws(WireError) in
      try Position(marker: marker)
    }
    let limit = try QueryParameters.pageLimit(
      request.body, query: request.query, atMost: limits.pageEntries)
    let found = try await store.read(request, .subscriptions(request.scope, request.user)) {
      try await store.reader.subscriptions(
        of: request.user, database, in: request.scope, after: after ?? .zero, limit: limit + 1)
    }
    var rest = found[...]
    var last: Position?
    return Response(
      .object(capacity: 64 + min(limit, found.count) * 256) { json in
        json.beginArray("subscriptions")
        // The loop counts bytes of JSON text, in which a control character takes up to six bytes.
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
          json.string("continuationMarker", last.marker)
        }
      })
  }

  func lookUp(_ request: DeviceRequest, _ database: Database) async throws -> Response {
    let items = try request.body.items("subscriptions", atMost: limits.operationsPerRequest)
    // An item without a readable id gets its error in the loop below.
    let ids = items.compactMap { try? SubscriptionID(item: $0) }
    let found = try await store.read(request, .subscriptions(request.scope, request.user)) {
      try await store.reader.subscriptions(
        named: ids, of: request.user, database, in: request.scope)
    }
    let known = Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
    return Response(
      .object { json in
        json.beginArray("subscriptions")
        for item in items { write(known, of: item, into: &json) }
        json.endArray()
      })
  }

  private func write(
    _ known: [SubscriptionID: Subscription], of item: JSONCursor, into json: inout JSONWriter
  ) {
    do throws(JSONProblem) {
      let id = try SubscriptionID(item: item)
      if json.bytes.count >= limits.subscriptionAnswerBytes {
        // One request may name the same subscription two hundred times, so the answer is bounded.
        RefusedItem(id: id.name, error: .answerIsFull).write(into: &json)
      } else if let subscription = known[id] {
        SubscriptionText.write(subscription, into: &json)
      } else {
        RefusedItem(id: id.name, error: WireError(.unknownSubscription)).write(into: &json)
      }
    } catch {
      RefusedItem(id: nil, error: WireError(error)).write(into: &json)
    }
  }
}

extension SubscriptionID {
  /// The id that an item of `subscriptions/lookup` names.
  fileprivate init(item: JSONCursor) throws(JSONProblem) {
    self.init(try item.object().required("subscriptionID").string())
  }
}

extension SubscriptionReader {
  /// Reads one operation.
  ///
  /// - Parameter id: set to the item's id as soon as the id is read, so that an error can name it.
  fileprivate func operation(
    _ item: JSONCursor, _ id: inout String?
  ) throws -> SubscriptionsRequest.Operation {
    try item.object().refuseOtherSpellings(of: KnownMembers.operation)
    let value = try item.required("subscription").object()
    let named = value.optional("subscriptionID")
    id = try named?.string()
    if let named { id = try Name.read(named, limits) }
    try value.refuseOtherSpellings(of: KnownMembers.subscription)
    let type = try item.required("operationType")
    switch Spelled(try type.string()) {
    case "create", "update", "forceUpdate":
      return .save(try subscription(value, id: SubscriptionID(id ?? RandomID.text())))
    case "delete", "forceDelete":
      guard let id else { throw value.missing("subscriptionID") }
      return .delete(SubscriptionID(id))
    default:
      throw type.problem("must be \"create\", \"update\" or \"delete\"")
    }
  }
}

extension SubscriptionAnswer {
  fileprivate func write(into json: inout JSONWriter) {
    switch self {
    case .saved(let subscription): SubscriptionText.write(subscription, into: &json)
    case .deleted(let id):
      json.object { json in
        json.string("subscriptionID", id.name)
        json.boolean("deleted", true)
      }
    case .refused(let id, let refusal):
      RefusedItem(id: id.name, error: WireError(refusal)).write(into: &json)
    }
  }
}

/// The error for a subscription that could not be saved, deleted or found.
private struct RefusedItem {
  var id: String?
  var error: WireError

  func write(into json: inout JSONWriter) {
    json.object { json in
      json.string("subscriptionID", ifAny: id)
      error.write(into: &json)
    }
  }
}

extension WireError {
  fileprivate static let answerIsFull = WireError(
    .quotaExceeded, "the answer is as large as it may be; look this one up in another request")
}

extension Position {
  /// The marker at the end of a page of subscriptions.
  fileprivate var marker: String {
    Base64.urlText((0..<8).reversed().map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) })
  }

  fileprivate init(marker: String) throws(WireError) {
    guard let bytes = Base64.bytes(marker), bytes.count == 8 else {
      throw WireError(.badRequest, "continuationMarker is none of this list")
    }
    // Positions in a store are positive `Int64` values. After the largest position there is nothing
    // to list.
    self.init(bits: min(bytes.reduce(0) { $0 << 8 | UInt64($1) }, UInt64(Int64.max)))
  }
}
