/// Writes JSON byte by byte, in the order of the calls. This type has only what payloads need:
/// there is no parser, and numbers are written as the standard library prints them.
package struct JSONText: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func raw(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  package mutating func number(_ value: some BinaryInteger) {
    bytes.append(contentsOf: value.description.utf8)
  }

  /// Writes a number. A number that JSON cannot represent is written as null.
  package mutating func number(_ value: Double) {
    if value.isFinite {
      bytes.append(contentsOf: value.description.utf8)
    } else {
      raw("null")
    }
  }

  package mutating func string(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        raw("\\u00")
        bytes.append(Hex.digit(byte >> 4))
        bytes.append(Hex.digit(byte))
      default:
        bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes `"key":`, with a comma before it unless the key is the first of its object.
  package mutating func key(_ name: String) {
    separate()
    string(name)
    bytes.append(UInt8(ascii: ":"))
  }

  /// Writes a member of an object, if there is a value.
  package mutating func member(_ name: String, _ value: String?) {
    guard let value else { return }
    key(name)
    string(value)
  }

  package mutating func member(_ name: String, _ value: some BinaryInteger) {
    key(name)
    number(value)
  }

  /// Writes a comma, unless an object or array has just been opened.
  package mutating func separate() {
    if let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") {
      bytes.append(UInt8(ascii: ","))
    }
  }

  /// Writes an array. `write` writes each element.
  package mutating func array<Element>(
    _ elements: some Sequence<Element>, _ write: (inout JSONText, Element) -> Void
  ) {
    raw("[")
    for element in elements {
      separate()
      write(&self, element)
    }
    raw("]")
  }

  package mutating func append(_ other: [UInt8]) { bytes.append(contentsOf: other) }
}
