import RelayCore

/// Makes inputs from seeds: flips bits; cuts, doubles and mixes parts; inserts words and numbers.
/// The same seed number gives the same inputs.
struct Mutator {
  private var random: SplitMix64
  private let seeds: [[UInt8]]
  private let words: [[UInt8]]
  /// The largest size of an input.
  static let bytesMax = 65_536

  init(_ parser: FuzzedParser, kept: [[UInt8]], seed: UInt64) {
    random = SplitMix64(seed: seed)
    seeds = parser.seeds + kept
    words = parser.words.map { Array($0.utf8) }
  }

  private mutating func number(below bound: Int) -> Int {
    bound <= 1 ? 0 : Int(random.next() % UInt64(bound))
  }

  private mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: random.next()) }

  mutating func next() -> [UInt8] {
    var input = seeds[number(below: seeds.count)]
    for _ in 0...number(below: 6) { mutate(&input) }
    return Array(input.prefix(Self.bytesMax))
  }

  private mutating func mutate(_ input: inout [UInt8]) {
    let place = number(below: input.count + 1)
    switch number(below: 9) {
    case 0 where !input.isEmpty: input[place % input.count] ^= 1 << UInt8(number(below: 8))
    case 1 where !input.isEmpty: input[place % input.count] = byte()
    case 2:
      input.insert(contentsOf: [0xff, 0xff, 0xff, 0xff, 0x7f].prefix(1 + place % 5), at: place)
    case 3 where !input.isEmpty:
      let from = place % input.count
      input.removeSubrange(from..<min(input.count, from + 1 + number(below: 40)))
    case 4:
      let part = input.dropFirst(place).prefix(1 + number(below: 200))
      let times = 1 + number(below: random.next() % 50 == 0 ? 300 : 3)
      for _ in 0..<times where input.count < Self.bytesMax {
        input.insert(contentsOf: part, at: place)
      }
    case 5:
      let other = seeds[number(below: seeds.count)]
      let part = other.dropFirst(number(below: other.count)).prefix(1 + number(below: 300))
      input.insert(contentsOf: part, at: place)
    case 6: input.removeSubrange(place...)
    case 7 where !words.isEmpty:
      input.insert(contentsOf: words[number(below: words.count)], at: place)
    default: input.insert(byte(), at: place)
    }
  }
}
