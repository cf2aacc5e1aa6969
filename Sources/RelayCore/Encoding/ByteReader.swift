/// Reads what `ByteWriter` wrote. Wrong bytes make the reader throw and never trap, and the memory
/// that it allocates is bounded by the number of the bytes.
package struct ByteReader: Sendable {
  /// How deep lists of field values may be nested; CloudKit itself allows one level.
  package static let depthMax = 16

  private let bytes: [UInt8]
  package private(set) var offset = 0
  /// How many lists of field values, each inside the one before, are being read now.
  package var depth = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var remaining: Int { bytes.count - offset }

  package func failure(_ what: CodingFailure.What, _ part: String) -> CodingFailure {
    CodingFailure(what: what, part: part, offset: offset)
  }

  package mutating func byte(_ part: String) throws(CodingFailure) -> UInt8 {
    guard offset < bytes.count else { throw failure(.truncated, part) }
    defer { offset += 1 }
    return bytes[offset]
  }

  package mutating func flag(_ part: String) throws(CodingFailure) -> Bool {
    switch try byte(part) {
    case 0: return false
    case 1: return true
    case let other: throw failure(.number(UInt64(other)), part)
    }
  }

  package mutating func number(_ part: String) throws(CodingFailure) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte(part)
      if shift == 63 && next > 1 { throw failure(.number(UInt64(next)), part) }
      value |= UInt64(next & 0x7f) << shift
      if next < 0x80 { return value }
      shift += 7
    }
  }

  package mutating func signed(_ part: String) throws(CodingFailure) -> Int64 {
    let value = try number(part)
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  package mutating func word(_ part: String) throws(CodingFailure) -> UInt64 {
    try fixed(part)
  }

  /// Reads a number of fixed width, low bytes first.
  private mutating func fixed<Number: FixedWidthInteger>(
    _ part: String
  ) throws(CodingFailure) -> Number {
    let width = Number.bitWidth / 8
    guard remaining >= width else { throw failure(.truncated, part) }
    var value: Number = 0
    for place in 0..<width { value |= Number(bytes[offset + place]) << (8 * place) }
    offset += width
    return value
  }

  /// Reads a finite number. JSON has only finite numbers, so other bits are damage. NaN in
  /// particular is not equal to itself, so a search for it would never succeed.
  package mutating func double(_ part: String) throws(CodingFailure) -> Double {
    let number = Double(bitPattern: try word(part))
    guard number.isFinite else { throw failure(.notFinite, part) }
    return number
  }

  /// Reads a count of elements that take at least one byte each.
  package mutating func count(_ part: String) throws(CodingFailure) -> Int {
    let value = try number(part)
    guard value <= UInt64(remaining) else { throw failure(.truncated, part) }
    return Int(value)
  }

  package mutating func text(_ part: String) throws(CodingFailure) -> String {
    let length = try count(part)
    let range = offset..<offset + length
    let text = bytes.withUnsafeBufferPointer { buffer in
      String(validating: UnsafeBufferPointer(rebasing: buffer[range]), as: UTF8.self)
    }
    guard let text else { throw failure(.text, part) }
    offset += length
    return text
  }

  package mutating func optionalText(_ part: String) throws(CodingFailure) -> String? {
    try flag(part) ? text(part) : nil
  }

  package mutating func data(_ part: String) throws(CodingFailure) -> [UInt8] {
    let length = try count(part)
    defer { offset += length }
    return Array(bytes[offset..<offset + length])
  }

  package mutating func value<Value: ByteCoded>() throws(CodingFailure) -> Value {
    try Value(from: &self)
  }

  package mutating func optional<Value: ByteCoded>() throws(CodingFailure) -> Value? {
    try flag("optional") ? Value(from: &self) : nil
  }

  package mutating func list<Value: ByteCoded>() throws(CodingFailure) -> [Value] {
    let count = try count("list")
    var values: [Value] = []
    for _ in 0..<count { values.append(try Value(from: &self)) }
    return values
  }

  package mutating func texts(_ part: String) throws(CodingFailure) -> [String] {
    let count = try count(part)
    var values: [String] = []
    for _ in 0..<count { values.append(try text(part)) }
    return values
  }

  /// Reads the length of a frame, whose bytes follow.
  package mutating func frame(_ part: String) throws(CodingFailure) -> Int {
    let length: UInt32 = try fixed(part)
    guard Int(length) <= remaining else { throw failure(.truncated, part) }
    return Int(length)
  }

  package mutating func skip(_ length: Int, _ part: String) throws(CodingFailure) {
    guard length >= 0, length <= remaining else { throw failure(.truncated, part) }
    offset += length
  }
}
