/// Random numbers from a seed: the same numbers in every run. The caller draws the seed, so the
/// core itself has no source of chance.
package struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
  package private(set) var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
    return word ^ word >> 31
  }
}
