import Foundation

/// Base64 as tokens have it (RFC 4648, section 5, without padding).
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
}
