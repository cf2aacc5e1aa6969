/// The part of a URL that may appear in logs, reports and errors. The user, path and query may be
/// secrets: any program that has a Web Push endpoint or a webhook's URL can send to it.
package enum WebOrigin {
  /// The scheme, host and port of `address`; a fixed text if `address` has no scheme or no host.
  package static func text(of address: String) -> String {
    text(address.utf8[...]) ?? "an address without scheme and host"
  }

  private static func text(_ address: Substring.UTF8View) -> String? {
    guard let colon = address.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let scheme = address[..<colon]
    let rest = address[colon...].dropFirst()
    guard !scheme.isEmpty, scheme.allSatisfy(isLetterOrDigit), rest.starts(with: "//".utf8) else {
      return nil
    }
    let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
    let place = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last
    guard let place, !place.isEmpty, place.allSatisfy(isOfPlace) else { return nil }
    return "\(Substring(scheme))://\(Substring(place))".lowercased()
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  private static func isOfPlace(_ byte: UInt8) -> Bool {
    isLetterOrDigit(byte) || ".-_:[]".utf8.contains(byte)
  }
}
