import RelayCore

/// The same numbers in every run, so that a failure can be repeated.
typealias SeededRandom = SplitMix64

extension SplitMix64 {
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
