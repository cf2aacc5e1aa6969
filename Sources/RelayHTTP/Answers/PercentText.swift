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

  /// The decoded value of a query parameter; an empty value counts as absent. A value that cannot
  /// be decoded is returned as it was sent, so that callers do not take it for absent.
  static func parameter(_ name: String, of query: String?) -> String? {
    for pair in (query ?? "").split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, ByteOrdered.areSame(String(parts[0]), name), !parts[1].isEmpty else {
        continue
      }
      return decoded(parts[1]) ?? String(parts[1])
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
