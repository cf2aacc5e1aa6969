import RelayWire
import Testing

/// Requests that many of the `Reference…Tests` send.
extension Rig {
  /// `"zoneID": {…}` of one of `_abc`'s zones.
  static func zone(_ name: String = "ReadingList", owner: String = "_abc") -> String {
    #""zoneID":{"zoneName":"\#(name)","ownerRecordName":"\#(owner)"}"#
  }

  /// Reports an event of `kind`, which must be accepted.
  func report(
    _ id: String, _ kind: String, zone: String = "ReadingList", record: String? = "A1",
    database: String = "private", more: String = ""
  ) async throws {
    let event = Event(
      id: id, type: "zonerelay.\(kind)", database: database, zone: zone,
      owner: database == "public" ? "_defaultOwner" : "_abc", record: record, more: more)
    let answer = try await produce("[\(event.text)]")
    try #require(answer.status == 202, "\(answer.text)")
  }

  func share(_ id: String, _ kind: String, with user: String) async throws {
    try await report(id, "share.\(kind)", record: nil, more: #","participant":"\#(user)""#)
  }

  /// The part about one zone in the answer of `changes/zone`.
  func page(
    _ zone: String = "ReadingList", _ members: String = "", in database: String = "private",
    as user: String = "_abc"
  ) async throws -> JSONCursor {
    let answer = try await self.database(
      "changes/zone", #"{"zones":[{\#(Self.zone(zone))\#(members)}]}"#, in: database, as: user)
    try #require(answer.status == 200, "\(answer.text)")
    return try answer.json.required("zones").elements()[0]
  }

  /// Saves one subscription and returns its item of the answer.
  @discardableResult
  func subscribe(
    _ members: String, in database: String = "private", as user: String = "_abc"
  ) async throws -> JSONCursor {
    let body = #"{"operations":[{"operationType":"create","subscription":{\#(members)}}]}"#
    let answer = try await self.database("subscriptions/modify", body, in: database, as: user)
    try #require(answer.status == 200, "\(answer.text)")
    return try answer.json.required("subscriptions").elements()[0]
  }

  /// Subscription ids in the user's notifications feed.
  func fired(as user: String = "_abc") async throws -> [String?] {
    try await device("notifications/changes", as: user).each("notifications", "subscriptionID")
  }
}

extension JSONCursor {
  /// Values of `key` in the items of `list`.
  func each(_ list: StaticString, _ key: StaticString) throws -> [String?] {
    try required(list).elements().map { try $0.optional(key)?.string() }
  }

  func token() throws -> String { try required("syncToken").string() }
}
