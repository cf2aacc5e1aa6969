import Hummingbird
import RelayCore
import RelayWire

/// Which page of a list the client wants: `continuationMarker` and `resultsLimit`, in the body or,
/// for a GET, in the query.
struct ListRequest {
  /// The position after which the page begins; `nil` means the beginning of the list.
  let after: Position?
  let limit: Int

  init(_ body: JSONCursor, query: String?, _ limits: HTTPLimits) throws {
    after = try Self.place(Self.marker(body, query))
    limit = try Self.limit(body, query, limits)
  }

  /// The marker at the end of the previous page, as that page's answer gave it; `nil` means the
  /// beginning of the list.
  static func marker(_ body: JSONCursor, _ query: String?) throws -> String? {
    try text("continuationMarker", query) ?? body.optional("continuationMarker")?.string()
  }

  static func limit(_ body: JSONCursor, _ query: String?, _ limits: HTTPLimits) throws -> Int {
    min(try count(body, query) ?? limits.pageEntries, limits.pageEntries)
  }

  /// A parameter of the query. An unreadable parameter is refused: if the relay ignored a marker,
  /// every page would begin at the start of the list.
  private static func text(_ name: StaticString, _ query: String?) throws(WireError) -> String? {
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

  static func marker(after place: Position) -> String {
    Base64.urlText((0..<8).reversed().map { UInt8(truncatingIfNeeded: place.bits >> ($0 * 8)) })
  }

  private static func place(_ marker: String?) throws(WireError) -> Position? {
    guard let marker else { return nil }
    guard let bytes = Base64.bytes(marker), bytes.count == 8 else {
      throw WireError(.badRequest, "continuationMarker is none of this list")
    }
    let bits = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    // Positions in a store are positive `Int64` values. After the largest position there is nothing
    // to list.
    return Position(bits: min(bits, UInt64(Int64.max)))
  }

  private static func count(_ body: JSONCursor, _ query: String?) throws -> Int? {
    if let text = try text("resultsLimit", query) {
      guard let limit = Int(text), limit > 0 else {
        throw WireError(.badRequest, "resultsLimit must be a whole number of at least 1")
      }
      return limit
    }
    guard let value = body.optional("resultsLimit") else { return nil }
    let limit = try value.integer()
    guard limit > 0 else { throw value.problem("must be at least 1") }
    return Int(min(limit, Int64(Int32.max)))
  }
}
