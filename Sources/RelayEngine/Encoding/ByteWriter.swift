/// Collects the bytes of a blob. Numbers are variable in length, texts carry theirs in front.
package struct ByteWriter: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  package mutating func byte(_ value: UInt8) { bytes.append(value) }

  package mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

  /// Seven bits a byte, low ones first.
  package mutating func number(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  package mutating func count(_ value: Int) { number(UInt64(value)) }

  /// Small numbers of either sign are short.
  package mutating func signed(_ value: Int64) {
    number(UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  /// Eight bytes, for what is random anyway.
  package mutating func word(_ value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// - Precondition: `value` is finite. A reader refuses all others, and one of them in the journal
  ///   would stop the next start.
  package mutating func double(_ value: Double) {
    precondition(value.isFinite, "a double that is kept is finite: what is read as JSON is")
    word(value.bitPattern)
  }

  package mutating func text(_ value: String) {
    count(value.utf8.count)
    bytes.append(contentsOf: value.utf8)
  }

  package mutating func text(_ value: String?) {
    flag(value != nil)
    if let value { text(value) }
  }

  package mutating func data(_ value: [UInt8]) {
    count(value.count)
    bytes.append(contentsOf: value)
  }

  package mutating func value(_ value: some ByteCoded) { value.write(to: &self) }

  package mutating func optional(_ value: (some ByteCoded)?) {
    flag(value != nil)
    if let value { value.write(to: &self) }
  }

  package mutating func list(_ values: [some ByteCoded]) {
    count(values.count)
    for value in values { value.write(to: &self) }
  }

  package mutating func texts(_ values: [String]) {
    count(values.count)
    for value in values { text(value) }
  }

  /// What `body` writes, with its length in four bytes in front, so that a reader may skip it.
  package mutating func frame(_ body: (inout ByteWriter) -> Void) {
    let start = bytes.count
    bytes.append(contentsOf: [0, 0, 0, 0])
    body(&self)
    let length = UInt32(bytes.count - start - 4)
    for place in 0..<4 {
      bytes[start + place] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(place)))
    }
  }
}
