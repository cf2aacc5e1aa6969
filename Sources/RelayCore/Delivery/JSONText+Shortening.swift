extension JSONText {
  /// The length of a text as JSON in bytes, without its quotation marks.
  static func byteCount(_ text: some StringProtocol) -> Int {
    text.utf8.reduce(0) { count, byte in
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): count + 2
      case 0..<0x20: count + 6
      default: count + 1
      }
    }
  }

  /// The text, shortened to at most `bytesMax` bytes as JSON. A shortened text is cut between two
  /// characters and gets an ellipsis at its end. If no character fits beside the ellipsis, the
  /// result is the first character alone; if that character is longer than `bytesMax` and than
  /// `longestScalar`, the result is its first scalar.
  static func shortened(_ text: String, bytesMax: Int) -> String {
    guard byteCount(text) > bytesMax else { return text }
    let ellipsis = "…"
    var left = bytesMax - ellipsis.utf8.count
    var end = text.startIndex
    while end < text.endIndex {
      let next = text.index(after: end)
      left -= byteCount(text[end..<next])
      guard left >= 0 else { break }
      end = next
    }
    if end > text.startIndex { return text[..<end] + ellipsis }
    let first = text[..<text.index(after: text.startIndex)]
    if byteCount(first) <= max(bytesMax, longestScalar) { return String(first) }
    return String(text.unicodeScalars.prefix(1))
  }

  /// The length of the longest scalar in JSON, an escaped control character, in bytes.
  private static let longestScalar = 6
}
