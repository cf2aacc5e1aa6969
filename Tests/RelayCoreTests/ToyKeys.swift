import RelayCore

/// Keys for tests: a keyed FNV hash, fast and good enough to distinguish tokens.
struct ToyKeys: TokenKeys {
  var signing: UInt32 = 1
  var known: Set<UInt32> = [1, 2]

  func code(of bytes: [UInt8], keyID: UInt32) -> [UInt8]? {
    known.contains(keyID) ? Self.hash(bytes, seed: UInt64(keyID)) : nil
  }

  func digest(_ bytes: [UInt8]) -> [UInt8] { Self.hash(bytes, seed: 0) }

  private static func hash(_ bytes: [UInt8], seed: UInt64) -> [UInt8] {
    var words = (seed &* 0x9e37_79b9_7f4a_7c15 ^ 0xcbf2_9ce4_8422_2325, seed &+ 0x51)
    for byte in bytes {
      words.0 = (words.0 ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
      words.1 = (words.1 ^ words.0 >> 29) &* 0x9e37_79b9_7f4a_7c15
    }
    return [words.0, words.1].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - UInt64($0) * 8)) }
    }
  }
}
