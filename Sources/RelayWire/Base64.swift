/// Base64 of RFC 4648, in both alphabets.
package enum Base64 {
  /// The bytes as text in the standard alphabet with padding, which is the form of change tokens.
  package static func text(_ bytes: [UInt8]) -> String { text(bytes, standard, isPadded: true) }

  /// The bytes as text in the URL-safe alphabet without padding, which is the form of
  /// continuation markers and of tokens in URLs.
  package static func urlText(_ bytes: [UInt8]) -> String { text(bytes, url, isPadded: false) }

  /// Reads a text in either alphabet, with or without padding. Returns nil for any other text,
  /// including a text with whitespace or with unused bits that are not zero.
  package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 3 / 4)
    var word: UInt32 = 0
    var count = 0
    var padding = 0
    for byte in text.utf8 {
      if byte == UInt8(ascii: "=") {
        padding += 1
        continue
      }
      guard padding == 0, let value = value(of: byte) else { return nil }
      word = word << 6 | value
      count += 1
      guard count % 4 == 0 else { continue }
      for shift in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(shift))) }
      word = 0
    }
    let rest = count % 4
    guard padding == 0 || (padding <= 2 && (rest + padding) == 4) else { return nil }
    switch rest {
    case 0: break
    case 2 where word & 0x0f == 0: bytes.append(UInt8(truncatingIfNeeded: word >> 4))
    case 3 where word & 0x03 == 0:
      bytes.append(UInt8(truncatingIfNeeded: word >> 10))
      bytes.append(UInt8(truncatingIfNeeded: word >> 2))
    default: return nil
    }
    return bytes
  }

  private static let standard = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let url = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func text(_ bytes: [UInt8], _ alphabet: [UInt8], isPadded: Bool) -> String {
    var result: [UInt8] = []
    result.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var word: UInt32 = 0
      for offset in 0..<3 {
        word = word << 8 | (offset < count ? UInt32(bytes[start + offset]) : 0)
      }
      for place in 0...count {
        result.append(alphabet[Int(word >> UInt32(18 - place * 6) & 0x3f)])
      }
      if isPadded { for _ in count..<3 { result.append(UInt8(ascii: "=")) } }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func value(of byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
