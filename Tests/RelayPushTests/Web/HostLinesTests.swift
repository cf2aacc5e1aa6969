import RelayCore
import Testing

@testable import RelayPush

/// Which waiting request gets the next free place for a transfer.
@Suite struct HostLinesTests {
  @Test func `a request to a host without a free place waits until one is free`() {
    var lines = Self.lines(places: 2)
    for number in 1...4 { lines.append(number, for: "silent") }
    lines.append(5, for: "other")
    #expect([next(&lines), next(&lines), next(&lines)] == [1, 5, 2])
    #expect(lines.isHeld)
    #expect(next(&lines) == nil)
    lines.left("other", as: .other)
    #expect(lines.isHeld)
    lines.left("silent", as: .other)
    #expect([next(&lines), next(&lines)] == [3, nil])
    lines.append(6, for: "silent")
    lines.append(7, for: "other")
    #expect([next(&lines), next(&lines)] == [7, nil])
    lines.left("silent", as: .other)
    lines.left("silent", as: .other)
    #expect([next(&lines), next(&lines), next(&lines)] == [4, 6, nil])
  }

  @Test func `hosts take turns, and each host's requests keep their order`() {
    var lines = Self.lines(places: 10)
    for number in 1...3 { lines.append(number, for: "a") }
    for number in 11...12 { lines.append(number, for: "b") }
    lines.append(21, for: "c")
    var order: [Int] = []
    while let item = next(&lines) { order.append(item) }
    #expect(order == [1, 11, 21, 2, 12, 3])
  }

  /// Any user may name any number of hosts that never answer.
  @Test func `unproven hosts share a few places and leave the rest to other hosts`() {
    var lines = Self.lines(places: 3, unproven: 4)
    lines.append(0, for: "known")
    #expect(next(&lines) == 0)
    lines.left("known", as: .answered)
    for number in 1...9 { lines.append(number, for: "tarpit-\(number)") }
    #expect([next(&lines), next(&lines), next(&lines), next(&lines)] == [1, 2, 3, 4])
    #expect(next(&lines) == nil && lines.isHeld)
    for number in 10...12 { lines.append(number, for: "known") }
    #expect([next(&lines), next(&lines), next(&lines)] == [10, 11, 12])
    lines.left("tarpit-1", as: .silent)
    #expect([next(&lines), next(&lines)] == [5, nil])
  }

  @Test func `answers give a host more places, and silence takes half of them away`() {
    var lines = Self.lines(places: 4, first: 1, unproven: 1)
    for number in 0..<100 { lines.append(number, for: "host") }
    var active = 0
    func fill() -> Int {
      while lines.next() != nil { active += 1 }
      return active
    }
    func leave(_ ending: HostLines<Int>.Ending) {
      lines.left("host", as: ending)
      active -= 1
    }
    #expect(fill() == 1)
    for places in [1, 2, 3, 4, 4] {
      leave(.answered)
      #expect(fill() == places)
    }
    // Each timeout halves the host's earned places: from four to two, from two to one, and then to
    // none.
    leave(.silent)
    #expect(fill() == 3, "the others are under way still")
    leave(.other)
    #expect(fill() == 2)
    leave(.silent)
    #expect(fill() == 1)
    leave(.silent)
    lines.append(100, for: "other")
    #expect(fill() == 1, "it shares the one place of those that earned nothing")
  }

  /// Each request comes out exactly once, in whatever order places are taken and freed.
  @Test func `no request is lost, and no host takes more than its places`() {
    var random = SplitMix64(seed: 7)
    var lines = Self.lines(places: 3, unproven: 5)
    var waiting: [String: [Int]] = [:]
    var active: [String: Int] = [:]
    var earned: [String: Int] = [:]
    func unproven() -> Int {
      active.filter { earned[$0.key, default: 0] == 0 }.values.reduce(0, +)
    }
    for number in 0..<20_000 {
      let host = "\(random.next() % 5)"
      switch random.next() % 3 {
      case 0:
        lines.append(number, for: host)
        waiting[host, default: []].append(number)
      case 1 where active[host, default: 0] > 0:
        let ending: HostLines<Int>.Ending = [.answered, .silent, .other][Int(random.next() % 3)]
        lines.left(host, as: ending)
        active[host, default: 0] -= 1
        if ending == .answered { earned[host] = min(3, earned[host, default: 0] + 1) }
        if ending == .silent { earned[host] = earned[host, default: 0] / 2 }
      default:
        guard let (item, host) = lines.next() else {
          let isLeftOut = waiting.contains { host, items in
            !items.isEmpty && active[host, default: 0] < 3
              && (earned[host, default: 0] > 0 || unproven() < 5)
          }
          #expect(!isLeftOut && lines.isHeld)
          continue
        }
        #expect(waiting[host]?.removeFirst() == item)
        active[host, default: 0] += 1
        #expect(active[host, default: 0] <= 3)
      }
    }
  }

  /// - Parameters:
  ///   - first: the places of a new host; `nil` means as many as any host may have.
  ///   - unproven: the number of places that all hosts without an earned place share.
  private static func lines(
    places: Int, first: Int? = nil, unproven: Int = 100
  ) -> HostLines<Int> {
    var limits = WebLimits()
    limits.transfersPerHostMax = places
    limits.transfersPerNewHostMax = first ?? places
    limits.transfersToUnprovenMax = unproven
    return HostLines(limits)
  }

  private func next(_ lines: inout HostLines<Int>) -> Int? { lines.next()?.item }
}
