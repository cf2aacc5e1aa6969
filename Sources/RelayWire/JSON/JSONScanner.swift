/// Reads a JSON text in one pass, without recursion. A text beyond a limit is refused, and takes no
/// further memory.
struct JSONScanner {
  /// How deep arrays and objects may be nested.
  static let depthMax = 64
  /// The most values and keys together. Each takes twelve bytes while the tree exists.
  static let nodesMax = 1_048_576

  let text: UnsafeBufferPointer<UInt8>
  var at = 0
  /// The node indexes of the arrays and objects that are not closed yet, outermost first.
  var open: [Int] = []

  mutating func scan(into nodes: inout [JSONNode]) throws(JSONProblem) {
    guard text.count < Int(UInt32.max) else { throw problem("the text is too long") }
    skipSpace()
    guard at < text.count else { throw problem("the text is empty; a JSON value was expected") }
    try value(into: &nodes)
    while let container = open.last { try step(in: container, &nodes) }
    skipSpace()
    guard at == text.count else { throw problem("something follows the JSON value") }
  }

  /// Continues in the innermost open array or object: reads its next member, or closes it.
  private mutating func step(
    in container: Int, _ nodes: inout [JSONNode]
  ) throws(JSONProblem) {
    let isObject = nodes[container].kind == .object
    let end = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
    skipSpace()
    guard at < text.count else { throw problem("the text ends inside an array or object") }
    let isFirst = nodes.count == container + 1
    if text[at] == end {
      at += 1
      nodes[container].extent = UInt32(nodes.count)
      open.removeLast()
      return
    }
    if !isFirst {
      guard text[at] == UInt8(ascii: ",") else {
        throw problem("a comma or the end of the \(isObject ? "object" : "array") was expected")
      }
      at += 1
      skipSpace()
    }
    if isObject { try key(into: &nodes) }
    guard at < text.count else { throw problem("the text ends where a value was expected") }
    try value(into: &nodes)
  }

  private mutating func key(into nodes: inout [JSONNode]) throws(JSONProblem) {
    guard at < text.count, text[at] == UInt8(ascii: "\"") else {
      throw problem("a key in double quotes was expected")
    }
    try string(into: &nodes)
    skipSpace()
    guard at < text.count, text[at] == UInt8(ascii: ":") else {
      throw problem("a colon was expected after a key")
    }
    at += 1
    skipSpace()
  }

  private mutating func value(into nodes: inout [JSONNode]) throws(JSONProblem) {
    guard nodes.count < Self.nodesMax else {
      throw problem("the text has more than \(Self.nodesMax) values; split it")
    }
    switch text[at] {
    case UInt8(ascii: "\""): try string(into: &nodes)
    case UInt8(ascii: "{"): try begin(.object, &nodes)
    case UInt8(ascii: "["): try begin(.array, &nodes)
    case UInt8(ascii: "t"): try word("true", .true, &nodes)
    case UInt8(ascii: "f"): try word("false", .false, &nodes)
    case UInt8(ascii: "n"): try word("null", .null, &nodes)
    default: try number(into: &nodes)
    }
  }

  private mutating func begin(
    _ kind: JSONNode.Kind, _ nodes: inout [JSONNode]
  ) throws(JSONProblem) {
    guard open.count < Self.depthMax else {
      throw problem("arrays and objects are nested more than \(Self.depthMax) deep")
    }
    open.append(nodes.count)
    nodes.append(JSONNode(start: UInt32(at), extent: 0, kind: kind))
    at += 1
  }

  private mutating func word(
    _ word: StaticString, _ kind: JSONNode.Kind, _ nodes: inout [JSONNode]
  ) throws(JSONProblem) {
    let length = word.utf8CodeUnitCount
    guard at + length <= text.count,
      (0..<length).allSatisfy({ text[at + $0] == word.utf8Start[$0] })
    else { throw problem("a value was expected") }
    nodes.append(JSONNode(start: UInt32(at), extent: UInt32(length), kind: kind))
    at += length
  }

  private mutating func number(into nodes: inout [JSONNode]) throws(JSONProblem) {
    let start = at
    if peek == UInt8(ascii: "-") { at += 1 }
    let first = peek
    let whole = skipDigits()
    guard whole > 0 else { throw problem("a value was expected") }
    guard whole == 1 || first != UInt8(ascii: "0") else {
      throw problem("a number begins with a zero")
    }
    if peek == UInt8(ascii: ".") {
      at += 1
      guard skipDigits() > 0 else { throw problem("a digit was expected after the point") }
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      at += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { at += 1 }
      guard skipDigits() > 0 else { throw problem("a digit was expected in the exponent") }
    }
    nodes.append(JSONNode(start: UInt32(start), extent: UInt32(at - start), kind: .number))
  }

  private var peek: UInt8? { at < text.count ? text[at] : nil }

  private mutating func skipDigits() -> Int {
    let start = at
    while at < text.count, text[at] &- UInt8(ascii: "0") < 10 { at += 1 }
    return at - start
  }

  @inline(__always)
  private mutating func skipSpace() {
    while at < text.count {
      switch text[at] {
      case 0x20, 0x0a, 0x0d, 0x09: at += 1
      default: return
      }
    }
  }

  /// Reads a string that begins at the quote. Checks the string's escapes and UTF-8, so that later
  /// code need not check them.
  private mutating func string(into nodes: inout [JSONNode]) throws(JSONProblem) {
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

  /// Skips one UTF-8 character of two to four bytes. Refuses a form that is not the shortest, a
  /// surrogate, and a character above U+10FFFF.
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

  private func problem(_ what: String) -> JSONProblem {
    JSONProblem(path: "", what: "not valid JSON at byte \(at): \(what)")
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
