import RelayCore
import Testing

/// The slots of a hot zone: those of one partition, and those of all partitions together.
@Suite struct WakePacerTests {
  private func rule(_ rate: Int?, longest: Span = .minutes(10)) -> WakePacer.Rule {
    var rule = WakePacer.Rule()
    rule.rate = rate
    rule.longest = longest
    return rule
  }

  private func slots(
    _ count: Int, gap: Int64, longest: Span = .hours(1), partition: Int = 0
  ) -> [WakePacer.Slot] {
    var smear = WakePacer(in: PartitionID(partition))
    return (0..<count).map { _ in
      smear.take(from: .s(0), at: .s(0), gap: gap, longest: longest, capacity: 0)
    }
  }

  @Test func `slots follow each other at the configured gap`() {
    let slots = slots(5, gap: 2_000_000).map(\.at)
    for (one, next) in zip(slots, slots.dropFirst()) { #expect(next - one == .seconds(2)) }
    #expect(slots[0] >= .s(0) && slots[0] < .s(2))
  }

  @Test func `a gap may be shorter than a millisecond`() {
    let slots = slots(2_000, gap: 250).map(\.at)
    #expect(slots == slots.sorted())
    #expect(abs((slots[1_999] - slots[0]).milliseconds - 500) <= 1)
  }

  @Test func `no slot is in the past, and an idle line starts again from now`() {
    var smear = WakePacer(in: PartitionID(1))
    func take(_ seconds: Double) -> Instant {
      smear.take(
        from: .s(seconds), at: .s(seconds), gap: 1_000_000, longest: .hours(1), capacity: 0
      ).at
    }
    let (first, second, later) = (take(0), take(0), take(100))
    #expect(second - first == .seconds(1))
    #expect(later >= .s(100) && later < .s(101))
  }

  /// Each partition has a sixty-fourth of the rate, and no second has many more slots than the rate
  /// allows.
  @Test(arguments: [64, 500, 5_000])
  func `partitions together make an even stream of slots`(rate: Int) throws {
    let gap = try #require(rule(rate).gap(capacity: 0))
    let each = 40
    let all = PartitionID.all.flatMap {
      slots(each, gap: gap, partition: Int($0.number)).map(\.at)
    }.sorted()
    for (index, slot) in all.enumerated() {
      let line = Double(index) * 1_000 / Double(rate)
      let off = Double((slot - Sample.start).milliseconds) - line
      #expect(abs(off) <= 1 + 2_000 * 64 / Double(rate) / 20, "slot \(index)")
    }
  }

  /// No lane waits for its slot longer than `longest`. If one sequence of slots would last longer,
  /// several sequences run beside each other, evenly spread.
  @Test(arguments: [Int64(100_000), 1_000_000, 64_000_000])
  func `no slot is later than the longest time, and slots stay even`(gap: Int64) {
    let slots = slots(1_000, gap: gap, longest: .seconds(50))
    #expect(slots.allSatisfy { $0.at >= .s(0) && $0.at <= .s(50) })
    #expect(slots.contains { $0.isHurried })
    let tenths = Dictionary(grouping: slots) { ($0.at - Sample.start).milliseconds / 5_000 }
    for tenth in 0..<10 {
      #expect((60...140).contains(tenths[Int64(tenth)]?.count ?? 0), "tenth \(tenth)")
    }
  }

  @Test func `the smaller of rate and capacity sets the gap`() {
    #expect(rule(nil).gap(capacity: 0) == nil)
    #expect(rule(64).gap(capacity: 0) == 1_000_000)
    #expect(rule(64).gap(capacity: 32) == 2_000_000)
    #expect(rule(64).gap(capacity: 1_000) == 1_000_000)
    #expect(rule(nil).gap(capacity: 640) == 100_000)
    #expect(rule(1_000_000).gap(capacity: 0) == 64)
  }

  @Test func `a new rate rescales the remaining slots`() throws {
    var smear = WakePacer(in: PartitionID(0))
    for _ in 0..<100 {
      _ = smear.take(from: .s(0), at: .s(0), gap: 1_000_000, longest: .hours(1), capacity: 0)
    }
    let half = try #require(smear.stretch(from: rule(64), to: rule(128), at: .s(20)))
    #expect(half.apply(to: .s(40)) == .s(30))
    #expect(half.apply(to: .s(10)) == .s(10), "what has come is not moved")
    let twice = try #require(
      smear.stretch(from: rule(64), to: rule(32, longest: .hours(1)), at: .s(20)))
    #expect(twice.apply(to: .s(40)) == .s(60))
    let bounded = try #require(
      smear.stretch(from: rule(64), to: rule(1, longest: .minutes(1)), at: .s(20)))
    #expect(bounded.apply(to: smear.end) <= .s(80))
    #expect(smear.stretch(from: rule(64), to: rule(64), at: .s(20)) == nil)
    #expect(smear.stretch(from: rule(64), to: rule(nil), at: .s(20)) == nil, "no herd")
    smear.apply(half)
    let next = smear.take(from: .s(20), at: .s(20), gap: 500_000, longest: .hours(1), capacity: 0)
    #expect(next.at >= .s(59) && next.at <= .s(61))
  }

  @Test func `new slots come after the slots of an earlier life`() {
    var smear = WakePacer(in: PartitionID(0))
    smear.recovered(.s(30))
    let slot = smear.take(from: .s(0), at: .s(0), gap: 1_000_000, longest: .hours(1), capacity: 0)
    #expect(slot.at >= .s(30))
  }
}
