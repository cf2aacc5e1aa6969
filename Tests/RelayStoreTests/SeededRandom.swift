import RelayCore

/// Random values from a seed, so that a failing seed fails on every machine.
typealias SeededRandom = SplitMix64

extension SplitMix64 {
  mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }
  mutating func flag() -> Bool { Bool.random(using: &self) }
  mutating func pick<Value>(_ values: [Value]) -> Value { values[number(0..<values.count)] }

  mutating func maybe<Value>(_ body: (inout SeededRandom) -> Value) -> Value? {
    flag() ? body(&self) : nil
  }

  mutating func list<Value>(_ max: Int, _ body: (inout SeededRandom) -> Value) -> [Value] {
    var values: [Value] = []
    for _ in 0..<number(0..<max + 1) { values.append(body(&self)) }
    return values
  }

  mutating func text() -> String {
    pick(["", "a", "ReadingList", "_defaultZone", "naïve 🧭", "a\0b", "\u{10FFFF}", "x y\n"])
      + (flag() ? "\(number(0..<1_000))" : "")
  }

  mutating func bytes() -> [UInt8] { list(40) { UInt8(truncatingIfNeeded: $0.next()) } }
  mutating func identifier() -> Identifier { Identifier(high: next(), low: next()) }
  mutating func position() -> Position { Position(bits: next() >> UInt64(number(1..<60))) }
  mutating func ordinal() -> Ordinal { Ordinal(next() >> UInt64(number(16..<60))) }
  mutating func instant() -> Instant {
    flag() ? Instant(milliseconds: Int64(bitPattern: next())) : pick([.zero, .never])
  }
}
