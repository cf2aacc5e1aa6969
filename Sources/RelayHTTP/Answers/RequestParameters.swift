import RelayCore
import RelayWire

/// Percent-encoding of RFC 3986.
enum PercentText {
  /// The decoded text; nil if an escape is broken or the result is not UTF-8.
  static func decoded(_ text: Substring) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(Hex.value),
        let low = rest.popFirst().flatMap(Hex.value)
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The decoded value of a query parameter; an empty value counts as absent.
  static func parameter(_ name: String, of query: String?) -> String? {
    for pair in (query ?? "").split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, ByteOrdered.areSame(String(parts[0]), name), !parts[1].isEmpty else {
        continue
      }
      return decoded(parts[1])
    }
    return nil
  }

  /// All parameters of a query, in their order. A name or value that cannot be decoded is nil.
  static func parameters(of query: String?) -> [(name: String?, value: String?)] {
    (query ?? "").split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (decoded(parts[0]), parts.count == 2 ? decoded(parts[1]) : "")
    }
  }
}

/// Parameters of a device's query, which may stand in the body instead. An unreadable or misspelt
/// one is refused.
enum QueryParameters {
  /// A parameter of the query: if the relay ignored an unreadable marker, every page would begin at
  /// the start of the list.
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
  /// body. If the relay ignored an unreadable one, the request would acknowledge nothing, and the
  /// relay would wake the device for changes that the device has fetched.
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
}

extension JSONCursor {
  /// Refuses a member that has a meaning in other requests but none in this request, unless the
  /// member is null.
  func refuse(_ key: StaticString, _ why: String) throws(JSONProblem) {
    if let stray = optional(key) { throw stray.problem(why) }
  }

  /// The elements of the list `key`.
  ///
  /// - Throws: a 400 if the list is missing or has more than `most` elements.
  func items(_ key: StaticString, atMost most: Int) throws -> [JSONCursor] {
    let items = try required(key).elements()
    guard items.count <= most else {
      throw WireError(
        .badRequest,
        "\(key) has \(items.count) items, more than \(most); split the batch in halves")
    }
    return items
  }

  func clientID() throws(JSONProblem) -> ClientID {
    guard let client = ClientID(text: try string()) else { throw problem("must be a UUID") }
    return client
  }

  func environment() throws(JSONProblem) -> Environment {
    guard let environment = Environment(name: try string()) else {
      throw problem("must be \"development\" or \"production\"")
    }
    return environment
  }
}
