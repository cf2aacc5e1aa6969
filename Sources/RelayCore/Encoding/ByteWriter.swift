/// Collects the bytes of a blob. Numbers have a variable length, and each text begins with its
/// length.
package struct ByteWriter: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  package mutating func byte(_ value: UInt8) { bytes.append(value) }

  package mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

  /// Writes seven bits of the number in each byte, low bits first.
  package mutating func number(_ value: UInt64) {
    guard value >= 0x80 else { return bytes.append(UInt8(truncatingIfNeeded: value)) }
    // One append for the whole number, so the array grows at most once.
    withUnsafeTemporaryAllocation(byteCount: Self.numberBytesMax, alignment: 1) { written in
      var (rest, count) = (value, 0)
      while rest >= 0x80 {
        written[count] = UInt8(truncatingIfNeeded: rest) | 0x80
        rest >>= 7
        count += 1
      }
      written[count] = UInt8(truncatingIfNeeded: rest)
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: written[...count]))
    }
  }

  /// The most bytes that one number takes.
  private static let numberBytesMax = 10

  package mutating func count(_ value: Int) { number(UInt64(value)) }

  /// Writes a number of either sign; the closer it is to zero, the fewer bytes it takes.
  package mutating func signed(_ value: Int64) {
    number(UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  /// Writes eight bytes, for values that are random and so would not become shorter.
  package mutating func word(_ value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// - Precondition: `value` is finite. A reader refuses all other values, and such a value in the
  ///   journal would make the next start fail.
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

  /// Writes the bytes without their length. The reader must find the end from the content.
  package mutating func raw(_ value: ArraySlice<UInt8>) { bytes.append(contentsOf: value) }

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

  /// Writes the length of what `body` writes, in four bytes, and then what `body` writes. So a
  /// reader may skip these bytes.
  package mutating func frame(_ body: (inout ByteWriter) -> Void) {
    let start = bytes.count
    bytes.append(contentsOf: [0, 0, 0, 0])
    body(&self)
    let length = UInt32(bytes.count - start - 4)
    for place in 0..<4 {
      bytes[start + place] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(place)))
    }
  }

  /// Whether the bytes at `place` are those of the text. `place` excludes the text's written
  /// length.
  package func holds(_ text: String, at place: Range<Int>) -> Bool {
    guard text.utf8.count == place.count else { return false }
    return bytes.withUnsafeBytes { bytes in
      let written = UnsafeRawBufferPointer(rebasing: bytes[place])
      return ByteOrdered.areSame(text, written)
    }
  }

  package func holds(_ value: ArraySlice<UInt8>, at place: Range<Int>) -> Bool {
    bytes[place] == value
  }
}
