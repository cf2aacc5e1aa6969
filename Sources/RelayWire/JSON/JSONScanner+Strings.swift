extension JSONScanner {
  /// Reads a string that begins at the quote. Checks its escapes and its UTF-8 here, so that later
  /// readers of the string can rely on them.
  mutating func string(into nodes: inout [JSONNode]) throws(JSONProblem) {
    at += 1
    let start = at
    var kind = JSONNode.Kind.string
    while true {
      at = plainEnd(from: at)
      guard at < text.count else { break }
      let byte = text[at]
      if byte == UInt8(ascii: "\"") {
        nodes.append(JSONNode(start: UInt32(start), extent: UInt32(at - start), kind: kind))
        at += 1
        return
      }
      if byte >= 0x80 {
        try skipCharacter(byte)
      } else if byte == UInt8(ascii: "\\") {
        kind = .escapedString
        try skipEscape()
      } else {
        throw problem("a control character stands in a string; write it as \\u00XX")
      }
    }
    throw problem("the text ends inside a string")
  }

  /// The end of the run of plain ASCII that begins at `start`. Reads eight bytes at a time, because
  /// this loop reads most of every text.
  @inline(__always)
  private func plainEnd(from start: Int) -> Int {
    var place = start
    let base = UnsafeRawPointer(text.baseAddress!)
    while place + 8 <= text.count {
      let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      let stops = Self.stops(in: word)
      guard stops == 0 else { return place + stops.trailingZeroBitCount / 8 }
      place += 8
    }
    while place < text.count, Self.stops(in: UInt64(text[place]) | 0x2020_2020_2020_2000) == 0 {
      place += 1
    }
    return place
  }

  /// Sets the high bit of each byte that ends a plain run: a quote, backslash, control character or
  /// non-ASCII byte. Bits above the lowest set bit may be wrong.
  @inline(__always)
  private static func stops(in word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
    let slash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
    let zeroes = (quote &- ones) & ~quote | (slash &- ones) & ~slash
    let controls = (word &- ones &* 0x20) & ~word
    return (zeroes | controls | word) & (ones &* 0x80)
  }

  private mutating func skipEscape() throws(JSONProblem) {
    guard at + 1 < text.count else { throw problem("the text ends inside a string") }
    switch text[at + 1] {
    case UInt8(ascii: "u"):
      let unit = try codeUnit()
      if 0xd800...0xdbff ~= unit {
        guard at + 1 < text.count, text[at] == UInt8(ascii: "\\"),
          text[at + 1] == UInt8(ascii: "u"), 0xdc00...0xdfff ~= (try codeUnit())
        else { throw problem("half of a surrogate pair stands alone") }
      } else if 0xdc00...0xdfff ~= unit {
        throw problem("half of a surrogate pair stands alone")
      }
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      at += 2
    default:
      throw problem("unknown escape")
    }
  }

  /// Reads the four digits of the `\uXXXX` that begins at `at`.
  private mutating func codeUnit() throws(JSONProblem) -> UInt32 {
    guard at + 6 <= text.count else { throw problem("the text ends inside an escape") }
    var unit: UInt32 = 0
    for offset in 2..<6 {
      guard let digit = HexDigit.value(of: text[at + offset]) else {
        throw problem("four hexadecimal digits were expected after \\u")
      }
      unit = unit << 4 | UInt32(digit)
    }
    at += 6
    return unit
  }

  /// Skips one character of two to four bytes. Requires its shortest form, no surrogates and at
  /// most U+10FFFF.
  private mutating func skipCharacter(_ lead: UInt8) throws(JSONProblem) {
    let (length, second): (Int, ClosedRange<UInt8>) =
      switch lead {
      case 0xc2...0xdf: (2, 0x80...0xbf)
      case 0xe0: (3, 0xa0...0xbf)
      case 0xed: (3, 0x80...0x9f)
      case 0xe1...0xef: (3, 0x80...0xbf)
      case 0xf0: (4, 0x90...0xbf)
      case 0xf1...0xf3: (4, 0x80...0xbf)
      case 0xf4: (4, 0x80...0x8f)
      default: (0, 0x80...0xbf)
      }
    guard length > 0, at + length <= text.count, second ~= text[at + 1],
      (2..<max(length, 2)).allSatisfy({ text[at + $0] & 0xc0 == 0x80 })
    else { throw problem("a string is not valid UTF-8") }
    at += length
  }
}

enum HexDigit {
  static func value(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
