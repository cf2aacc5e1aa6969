import RelayCore

/// Random numbers from a seed: a simulation's only source of chance, so the seed determines its
/// history.
package struct SeededRandom: RandomNumberGenerator, Sendable {
  fileprivate var random: SplitMix64

  package init(seed: UInt64) {
    random = SplitMix64(seed: seed &* 0x2545_f491_4f6c_dd1d &+ 0x9e37_79b9_7f4a_7c15)
  }

  package mutating func next() -> UInt64 { random.next() }

  /// A number from 0 to `bound` - 1; fast, and uniform enough for a simulation.
  mutating func below(_ bound: Int) -> Int { Int(next() >> 33) % bound }
  mutating func from(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + below(range.upperBound - range.lowerBound + 1)
  }
  mutating func permille(_ rate: Int) -> Bool { rate > 0 && below(1_000) < rate }
  mutating func pick<Element>(_ items: [Element]) -> Element { items[below(items.count)] }
}

extension SeededRandom {
  /// The generator's state, as a part of a run's digest. Reading it draws no number.
  var peek: UInt64 { random.state }
}
