import Foundation

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

  /// The decoded bytes; nil if the text is not base64url.
  static func bytes(_ text: Substring) -> [UInt8]? {
    let plain = text.replacingOccurrences(of: "-", with: "+")
      .replacingOccurrences(of: "_", with: "/")
    let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
    return Data(base64Encoded: plain + padding).map { [UInt8]($0) }
  }
}
