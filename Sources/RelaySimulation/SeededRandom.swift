/// Random numbers from a seed (SplitMix64): a simulation's only source of chance, so the seed
/// determines its history.
package struct SeededRandom: RandomNumberGenerator, Sendable {
  fileprivate var state: UInt64

  package init(seed: UInt64) { state = seed &* 0x2545_f491_4f6c_dd1d &+ 0x9e37_79b9_7f4a_7c15 }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
    return word ^ word >> 31
  }

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
  var peek: UInt64 { state }
}
