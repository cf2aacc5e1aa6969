/// Random numbers from a seed (SplitMix64): the same in every run, so that a failure can be
/// repeated.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
    return word ^ word >> 31
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  mutating func pick<Element>(_ items: [Element]) -> Element { items[below(items.count)] }
}

/// Calls `body` with all strings over `count` symbols of exactly this length, in order.
func strings(over count: Int, length: Int, _ body: ([Int]) -> Void) {
  var word = [Int](repeating: 0, count: length)
  while true {
    body(word)
    var place = length - 1
    while place >= 0 {
      word[place] += 1
      if word[place] < count { break }
      word[place] = 0
      place -= 1
    }
    if place < 0 { return }
  }
}
