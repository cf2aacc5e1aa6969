import Foundation

/// A JSON Web Token, decoded but not verified.
struct JSONWebToken {
  var header: [String: Any]
  var claims: [String: Any]
  /// The bytes that the signature covers.
  var signed: Data
  var signature: Data

  /// Decodes a token; the result is nil if the text is not a JSON Web Token.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
    guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Self.base64URL(parts[2])
    else { return nil }
    (self.header, self.claims, self.signature) = (header, claims, signature)
    signed = Data("\(parts[0]).\(parts[1])".utf8)
  }

  func number(_ claim: String) -> Int64? { (claims[claim] as? NSNumber)?.int64Value }
  func text(_ claim: String) -> String? { claims[claim] as? String }

  private static func object(_ part: String) -> [String: Any]? {
    guard let bytes = base64URL(part) else { return nil }
    // Text that is not JSON is not a token; the caller reports that.
    return try? JSONSerialization.jsonObject(with: bytes) as? [String: Any]
  }

  /// Decodes base64url without padding; the result is nil for any other text.
  static func base64URL(_ part: String) -> Data? {
    guard !part.isEmpty, !part.contains("="), !part.contains("+"), !part.contains("/") else {
      return nil
    }
    var text = part.replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    return Data(base64Encoded: text)
  }
}
