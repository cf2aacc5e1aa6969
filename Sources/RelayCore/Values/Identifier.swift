/// 128 bits that identify one thing: a notification, an installation, a push.
///
/// The text of an identifier is a lowercase UUID. An identifier is stored in sixteen bytes, so that
/// a million identifiers take sixteen megabytes and no further allocation.
package struct Identifier: Hashable, Comparable, Sendable {
  package var high: UInt64
  package var low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Parses a UUID in either case; nil for any other text.
  package init?(text: some StringProtocol) { self.init(text: String(text)) }

  /// Does the same as the generic initializer. A generic call across modules costs microseconds,
  /// and every event has two identifiers.
  package init?(text: String) {
    var text = text
    guard let found = text.withUTF8({ Self.read($0) }) else { return nil }
    self = found
  }

  private static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Identifier? {
    guard bytes.count == 36 else { return nil }
    var (high, low): (UInt64, UInt64) = (0, 0)
    for index in 0..<36 {
      if index == 8 || index == 13 || index == 18 || index == 23 {
        guard bytes[index] == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Hex.value(of: bytes[index]) else { return nil }
      if index < 18 {
        high = high << 4 | UInt64(digit)
      } else {
        low = low << 4 | UInt64(digit)
      }
    }
    return Identifier(high: high, low: low)
  }

  /// Takes the first sixteen of `bytes`, big-endian, and sets the version and variant bits of a
  /// UUID.
  package init(uuidFrom bytes: [UInt8]) {
    let (high, low) = (Self.word(of: bytes.prefix(8)), Self.word(of: bytes.dropFirst(8).prefix(8)))
    self.init(
      high: high & 0xffff_ffff_ffff_0fff | 0x8000,
      low: low & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
  }

  private static func word(of bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  package var text: String {
    String(unsafeUninitializedCapacity: 36) { buffer in
      var place = 0
      for index in 0..<32 {
        if place == 8 || place == 13 || place == 18 || place == 23 {
          buffer[place] = UInt8(ascii: "-")
          place += 1
        }
        let word = index < 16 ? high : low
        buffer[place] = Hex.digit(UInt8(truncatingIfNeeded: word >> (60 - UInt64(index % 16) * 4)))
        place += 1
      }
      return 36
    }
  }

  package static func < (left: Identifier, right: Identifier) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}
