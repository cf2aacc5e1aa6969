import RelayCore

enum RandomID {
  /// A fresh random UUID.
  static func text() -> String { draw().text }

  static func draw() -> Identifier {
    let drawn = Identifier(uuidFrom: bytes(16))
    // Sets version 4, which marks a random UUID.
    return Identifier(high: drawn.high & ~0xf000 | 0x4000, low: drawn.low)
  }

  static func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    // Each random word costs a call to the kernel, so all eight bytes of the word are used.
    let words = (0..<(count + 7) / 8).map { _ in generator.next() }
    return (0..<count).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> UInt64($0 % 8 * 8)) }
  }
}
