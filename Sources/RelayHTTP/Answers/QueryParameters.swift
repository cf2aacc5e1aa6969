import RelayCore
import RelayWire

/// Reads the parameters of a device's request, which stand in the query or in the body. An
/// unreadable or misspelt parameter is refused.
enum QueryParameters {
  /// A parameter of the query; nil if the parameter is absent. An unreadable parameter is refused:
  /// if the relay ignored an unreadable marker, every page would begin at the start of the list.
  static func text(_ name: StaticString, _ query: String?) throws(WireError) -> String? {
    for (found, value) in PercentText.parameters(of: query) {
      guard let found else { continue }
      if OtherSpelling.isOne(found, of: name) {
        throw WireError(.badRequest, "\(found) is unknown; write \(name)")
      }
      guard ByteOrdered.areSame(found, "\(name)") else { continue }
      guard let value, !value.isEmpty else {
        throw WireError(.badRequest, "\(name) is empty, or no percent-encoded text")
      }
      return value
    }
    return nil
  }

  /// The marker at the end of the previous page of a list, as that page's answer gave it; `nil`
  /// means the beginning of the list.
  static func marker(_ request: DeviceRequest) throws -> String? {
    try text("continuationMarker", request.query)
      ?? request.body.optional("continuationMarker")?.string()
  }

  /// The installation that a device's request names: `clientId` in the query, or otherwise in the
  /// body. If the relay ignored an unreadable `clientId`, the request would acknowledge nothing,
  /// and the relay would wake the device for changes that the device has fetched.
  ///
  /// - Throws: `WireError` or `JSONProblem` if a `clientId` is no UUID, or its name is spelt in
  ///   another way.
  static func client(_ query: String?, _ body: JSONCursor) throws -> ClientID? {
    var client: ClientID?
    for (key, value) in PercentText.parameters(of: query) {
      guard let key else { continue }
      if OtherSpelling.isOne(key, of: "clientId") {
        throw WireError(.badRequest, "\(key) in the query is unknown; write clientId")
      }
      guard ByteOrdered.areSame(key, "clientId") else { continue }
      guard let named = value.flatMap({ ClientID(text: $0) }) else {
        throw WireError(.badRequest, "clientId in the query must be a UUID")
      }
      client = client ?? named
    }
    let named = try body.optional("clientId")?.clientID()
    return client ?? named
  }

  /// The most entries of a page: `resultsLimit`, but no more than `most`.
  ///
  /// - Parameter query: the request's query, for an endpoint that also accepts the limit in the
  ///   query.
  static func pageLimit(
    _ body: JSONCursor, query: String? = nil, atMost most: Int
  ) throws -> Int {
    if let text = try text("resultsLimit", query) {
      // Digits that do not fit `Int` are a number that is larger than every page.
      let limit = Int(text) ?? (text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? .max : 0)
      guard limit > 0 else {
        throw WireError(.badRequest, "resultsLimit must be a whole number of at least 1")
      }
      return min(limit, most)
    }
    guard let value = body.optional("resultsLimit") else { return most }
    let limit = try value.cappedInteger()
    guard limit > 0 else { throw value.problem("must be at least 1") }
    return Int(min(limit, Int64(most)))
  }
}
