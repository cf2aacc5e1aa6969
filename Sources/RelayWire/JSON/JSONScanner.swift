/// Reads a JSON text in one pass, without recursion.
struct JSONScanner {
  let text: UnsafeBufferPointer<UInt8>
  let limits: JSONLimits
  var at = 0
  /// The containers that are open, outermost first.
  private var open: [Int] = []

  init(text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
    self.text = text
    self.limits = limits
  }

  mutating func scan(into nodes: inout [JSONNode]) throws(JSONProblem) {
    guard text.count < Int(UInt32.max) else { throw problem("the text is too long") }
    skipSpace()
    guard at < text.count else { throw problem("the text is empty; a JSON value was expected") }
    try value(into: &nodes)
    while let container = open.last {
      try step(in: container, &nodes)
    }
    skipSpace()
    guard at == text.count else { throw problem("something follows the JSON value") }
  }

  /// Continues in the innermost open container: reads its next member or closes the container.
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
    guard nodes.count < limits.nodes else {
      throw problem("the text has more than \(limits.nodes) values; split it")
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
    guard open.count < limits.depth else {
      throw problem("arrays and objects are nested more than \(limits.depth) deep")
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

  func problem(_ what: String) -> JSONProblem {
    JSONProblem(path: "", what: "not valid JSON at byte \(at): \(what)")
  }
}
