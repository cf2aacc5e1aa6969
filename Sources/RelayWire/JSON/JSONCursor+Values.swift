extension JSONCursor {
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

  /// A whole number in 64 bits. `42.0` and `4.2e1` are whole as well.
  package func integer() throws(JSONProblem) -> Int64 {
    guard node.kind == .number else { throw mismatch("a whole number") }
    if let number = plainInteger() { return number }
    // A number without a fraction or exponent that exceeds 64 bits is refused: a double would round
    // it to one that fits.
    if !isWrittenWhole, let number = Int64(exactly: tree.double(at: index)) { return number }
    throw problem("must be a whole number that fits 64 bits")
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
    guard end - start <= 18 else { return longInteger() }
    var number: Int64 = 0
    for place in start..<end {
      let digit = tree.bytes[place] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      number = number &* 10 &+ Int64(digit)
    }
    return isNegative ? -number : number
  }

  private func longInteger() -> Int64? {
    let start = Int(node.start)
    return Int64(String(decoding: tree.bytes[start..<start + Int(node.extent)], as: UTF8.self))
  }
}

extension JSONTree {
  func isKey(at index: Int, _ key: StaticString) -> Bool {
    let node = nodes[index]
    guard node.kind == .string else {
      return text(at: index).utf8.elementsEqual("\(key)".utf8)
    }
    let length = key.utf8CodeUnitCount
    guard Int(node.extent) == length else { return false }
    return bytes.withUnsafeBufferPointer { text in
      let start = Int(node.start)
      var offset = 0
      while offset < length, text[start + offset] == key.utf8Start[offset] { offset += 1 }
      return offset == length
    }
  }

  func text(at index: Int) -> String {
    let node = nodes[index]
    let range = Int(node.start)..<Int(node.start) + Int(node.extent)
    // The scanner has checked the UTF-8, so this decoding never repairs anything.
    guard node.kind == .escapedString else {
      return bytes.withUnsafeBufferPointer {
        String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self)
      }
    }
    return String(decoding: Self.unescaped(bytes[range]), as: UTF8.self)
  }

  func double(at index: Int) -> Double {
    let node = nodes[index]
    let slice = bytes[Int(node.start)..<Int(node.start) + Int(node.extent)]
    return Double(String(decoding: slice, as: UTF8.self)) ?? .nan
  }

  private static func unescaped(_ slice: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(slice.count)
    var at = slice.startIndex
    while at < slice.endIndex {
      guard slice[at] == UInt8(ascii: "\\") else {
        result.append(slice[at])
        at += 1
        continue
      }
      let letter = slice[at + 1]
      at += 2
      switch letter {
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0c)
      case UInt8(ascii: "n"): result.append(0x0a)
      case UInt8(ascii: "r"): result.append(0x0d)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "u"): appendCharacter(slice, &at, to: &result)
      default: result.append(letter)
      }
    }
    return result
  }

  /// The digits begin at `at`; a pair of surrogates is one character.
  private static func appendCharacter(
    _ slice: ArraySlice<UInt8>, _ at: inout Int, to result: inout [UInt8]
  ) {
    func unit(_ start: Int) -> UInt32 {
      slice[start..<start + 4].reduce(0) { $0 << 4 | UInt32(HexDigit.value(of: $1) ?? 0) }
    }
    var code = unit(at)
    at += 4
    if 0xd800...0xdbff ~= code {
      code = 0x10000 + ((code - 0xd800) << 10) + (unit(at + 2) - 0xdc00)
      at += 6
    }
    guard let scalar = Unicode.Scalar(code) else { return }
    result.append(contentsOf: UTF8.encode(scalar)!)
  }
}
