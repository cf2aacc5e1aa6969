/// A value in a JSON text. A cursor is cheap to copy. The errors that it throws name the value by
/// its path.
package struct JSONCursor: Sendable {
  let tree: JSONTree
  let index: Int

  var node: JSONNode { tree.nodes[index] }

  package var isNull: Bool { node.kind == .null }
  package var isObject: Bool { node.kind == .object }
  package var isArray: Bool { node.kind == .array }
  package var isString: Bool { node.kind == .string || node.kind == .escapedString }
  package var isNumber: Bool { node.kind == .number }

  /// The object's length in the text in bytes, including its braces; 0 for any other value. The
  /// result is correct only for the text's root and for an element of an array at the root.
  package var objectBytes: Int {
    guard node.kind == .object else { return 0 }
    let after = Int(node.extent)
    let end = after < tree.nodes.count ? Int(tree.nodes[after].start) : tree.bytes.count
    // The text between the object's last brace and the next value contains no brace.
    let last = tree.bytes[..<end].lastIndex(of: UInt8(ascii: "}")) ?? Int(node.start)
    return last + 1 - Int(node.start)
  }

  /// The member with this name; nil if this value is not an object or has no such member. The
  /// lookup takes time in proportion to the number of members.
  package subscript(key: StaticString) -> JSONCursor? {
    guard node.kind == .object else { return nil }
    let end = Int(node.extent)
    var member = index + 1
    while member < end {
      if tree.isKey(at: member, key) { return JSONCursor(tree: tree, index: member + 1) }
      member = tree.next(after: member + 1)
    }
    return nil
  }

  /// The member with this name; nil if the member is absent or null. An absent member and a null
  /// member mean the same.
  package func optional(_ key: StaticString) -> JSONCursor? {
    self[key].flatMap { $0.isNull ? nil : $0 }
  }

  package func required(_ key: StaticString) throws(JSONProblem) -> JSONCursor {
    guard let value = self[key] else { throw missing(key) }
    return value
  }

  /// The error for a required member that is missing.
  package func missing(_ key: StaticString) -> JSONProblem {
    let own = path
    return JSONProblem(path: own.isEmpty ? "\(key)" : "\(own).\(key)", what: "is missing")
  }

  package func string() throws(JSONProblem) -> String {
    guard isString else { throw mismatch("a string") }
    return tree.text(at: index)
  }

  package func boolean() throws(JSONProblem) -> Bool {
    switch node.kind {
    case .true: return true
    case .false: return false
    default: throw mismatch("true or false")
    }
  }

  /// A whole number in 64 bits. `42.0` and `4.2e1` count as whole numbers.
  package func integer() throws(JSONProblem) -> Int64 {
    guard node.kind == .number else { throw mismatch("a whole number") }
    if let number = plainInteger() { return number }
    // A whole number of more than 64 bits is refused, because a double could round it to another
    // number that fits 64 bits.
    if !isWrittenWhole, let number = Int64(exactly: tree.double(at: index)) { return number }
    throw problem("must be a whole number that fits 64 bits")
  }

  /// A whole number. A number outside the range of `Int64` is read as the nearest bound of the
  /// range.
  package func cappedInteger() throws(JSONProblem) -> Int64 {
    guard node.kind == .number, abs(tree.double(at: index)) >= 0x1p63 else { return try integer() }
    return tree.double(at: index) < 0 ? .min : .max
  }

  package func double() throws(JSONProblem) -> Double {
    guard node.kind == .number else { throw mismatch("a number") }
    if let number = plainInteger() { return Double(number) }
    let number = tree.double(at: index)
    guard number.isFinite else { throw problem("is beyond what a double can hold") }
    return number
  }

  /// True if the number is written without a fraction or exponent.
  package var isWrittenWhole: Bool {
    let start = Int(node.start)
    return tree.bytes[start..<start + Int(node.extent)].allSatisfy {
      $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0
    }
  }

  private func plainInteger() -> Int64? {
    var start = Int(node.start)
    let end = start + Int(node.extent)
    let isNegative = tree.bytes[start] == UInt8(ascii: "-")
    if isNegative { start += 1 }
    guard end - start <= 18 else {
      return Int64(String(decoding: tree.bytes[Int(node.start)..<end], as: UTF8.self))
    }
    var number: Int64 = 0
    for place in start..<end {
      let digit = tree.bytes[place] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      number = number &* 10 &+ Int64(digit)
    }
    return isNegative ? -number : number
  }

  /// An array's values, in their order.
  package func elements() throws(JSONProblem) -> [JSONCursor] {
    guard node.kind == .array else { throw mismatch("an array") }
    var elements: [JSONCursor] = []
    var element = index + 1
    while element < Int(node.extent) {
      elements.append(JSONCursor(tree: tree, index: element))
      element = tree.next(after: element)
    }
    return elements
  }

  /// An object's members, in their order.
  package func members() throws(JSONProblem) -> [(key: String, value: JSONCursor)] {
    guard node.kind == .object else { throw mismatch("an object") }
    var members: [(key: String, value: JSONCursor)] = []
    var member = index + 1
    while member < Int(node.extent) {
      members.append((tree.text(at: member), JSONCursor(tree: tree, index: member + 1)))
      member = tree.next(after: member + 1)
    }
    return members
  }

  /// Returns this value if it is an object, and throws otherwise.
  package func object() throws(JSONProblem) -> JSONCursor {
    guard node.kind == .object else { throw mismatch("an object") }
    return self
  }

  /// This value's path. Finding the path searches the text from its root, so use it for errors
  /// only.
  package var path: String {
    var path = ""
    var here = 0
    while here != index {
      let isObject = tree.nodes[here].kind == .object
      var place = 0
      var member = here + 1
      while true {
        let value = isObject ? member + 1 : member
        if index < tree.next(after: value) {
          if isObject {
            path += path.isEmpty ? tree.text(at: member) : ".\(tree.text(at: member))"
          } else {
            path += "[\(place)]"
          }
          here = value
          break
        }
        member = tree.next(after: value)
        place += 1
      }
    }
    return path
  }

  /// An error about this value.
  package func problem(_ what: String) -> JSONProblem { JSONProblem(path: path, what: what) }

  private func mismatch(_ expected: String) -> JSONProblem {
    problem("must be \(expected), not \(kindName)")
  }

  private var kindName: String {
    switch node.kind {
    case .null: "null"
    case .true, .false: "a boolean"
    case .number: "a number"
    case .string, .escapedString: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
