/// Writes hexadecimal digits in lowercase, and reads them in either case.
package enum Hex {
  package static func value(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  package static func isDigit(_ byte: UInt8) -> Bool { value(of: byte) != nil }

  /// The digit of the low four bits.
  package static func digit(_ value: UInt8) -> UInt8 {
    let nibble = value & 0x0f
    return nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
  }

  package static func text(_ bytes: some Collection<UInt8>) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
      for (index, byte) in bytes.enumerated() {
        buffer[index * 2] = digit(byte >> 4)
        buffer[index * 2 + 1] = digit(byte)
      }
      return bytes.count * 2
    }
  }

  /// The bytes that `text` encodes; `nil` if the text has an odd length or a character that is no
  /// hexadecimal digit.
  package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 2)
    var digits = text.utf8.makeIterator()
    while let first = digits.next() {
      guard let high = value(of: first), let low = digits.next().flatMap(value(of:)) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}
