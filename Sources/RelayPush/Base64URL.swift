import Foundation
import RelayCore

/// Base64 for tokens (RFC 4648, section 5, without padding).
enum Base64URL {
  static func text(_ bytes: some DataProtocol) -> String {
    let plain = Data(bytes).base64EncodedString()
    return String(
      plain.compactMap { character -> Character? in
        switch character {
        case "+": "-"
        case "/": "_"
        case "=": nil
        default: character
        }
      })
  }

  /// A signed token: header, claims and signature (RFC 7515, section 7.1).
  static func token(
    header: (inout JSONText) -> Void, claims: (inout JSONText) -> Void,
    by sign: (Data) throws -> Data
  ) throws -> String {
    let signed = "\(object(header)).\(object(claims))"
    return "\(signed).\(text(try sign(Data(signed.utf8))))"
  }

  private static func object(_ write: (inout JSONText) -> Void) -> String {
    var json = JSONText()
    json.raw("{")
    write(&json)
    json.raw("}")
    return text(json.bytes)
  }

  /// The decoded bytes; nil if the text is not base64url.
  static func bytes(_ text: Substring) -> [UInt8]? {
    let plain = text.replacingOccurrences(of: "-", with: "+")
      .replacingOccurrences(of: "_", with: "/")
    let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
    return Data(base64Encoded: plain + padding).map { [UInt8]($0) }
  }
}
