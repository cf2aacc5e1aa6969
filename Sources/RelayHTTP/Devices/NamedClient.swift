import RelayCore
import RelayWire

/// The installation that a device's request names: `clientId` in the query, or otherwise in the
/// body.
///
/// An unreadable `clientId` is refused. If the relay ignored it, the request would acknowledge
/// nothing, and the relay would wake the device for changes that the device has fetched.
enum NamedClient {
  private static let name: StaticString = "clientId"

  /// - Throws: `WireError` or `JSONProblem` if a `clientId` is no UUID, or its name is spelt in
  ///   another way.
  static func read(query: String?, _ body: JSONCursor) throws -> ClientID? {
    let inQuery = try self.inQuery(query)
    guard let named = body.optional(name) else { return inQuery }
    guard let client = ClientID(text: try named.string()) else {
      throw named.problem("must be a UUID")
    }
    return inQuery ?? client
  }

  private static func inQuery(_ query: String?) throws(WireError) -> ClientID? {
    var found: ClientID?
    for (key, value) in PercentText.parameters(of: query) {
      guard let key else { continue }
      if OtherSpelling.isOne(key, of: name) {
        throw WireError(.badRequest, "\(key) in the query is unknown; write \(name)")
      }
      guard ByteOrdered.areSame(key, "\(name)") else { continue }
      guard let client = value.flatMap({ ClientID(text: $0) }) else {
        throw WireError(.badRequest, "\(name) in the query must be a UUID")
      }
      found = found ?? client
    }
    return found
  }
}
