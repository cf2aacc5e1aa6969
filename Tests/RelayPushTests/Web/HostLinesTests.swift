import Testing

@testable import RelayPush

/// Who of those that wait for a place is next.
@Suite struct HostLinesTests {
  @Test func `a host that has its places is passed by until one is free`() {
    var lines = HostLines<Int>(placesMax: 2)
    for number in 1...4 { lines.append(number, for: "silent") }
    lines.append(5, for: "other")
    #expect([next(&lines), next(&lines), next(&lines)] == [1, 5, 2])
    #expect(lines.isHeld)
    #expect(next(&lines) == nil)
    lines.left("other")
    #expect(lines.isHeld)
    lines.left("silent")
    #expect([next(&lines), next(&lines)] == [3, nil])
    lines.append(6, for: "silent")
    lines.append(7, for: "other")
    #expect([next(&lines), next(&lines)] == [7, nil])
    lines.left("silent")
    lines.left("silent")
    #expect([next(&lines), next(&lines), next(&lines)] == [4, 6, nil])
  }

  @Test func `hosts take turns, and each keeps its order`() {
    var lines = HostLines<Int>(placesMax: 10)
    for number in 1...3 { lines.append(number, for: "a") }
    for number in 11...12 { lines.append(number, for: "b") }
    lines.append(21, for: "c")
    var order: [Int] = []
    while let item = next(&lines) { order.append(item) }
    #expect(order == [1, 11, 21, 2, 12, 3])
  }

  /// What is appended comes out once, whatever the order of places that are taken and left.
  @Test func `nothing is forgotten and no host has more than its places`() {
    var random = SplitMix(state: 7)
    var lines = HostLines<Int>(placesMax: 3)
    var waiting: [String: [Int]] = [:]
    var active: [String: Int] = [:]
    for number in 0..<5_000 {
      let host = "\(random.next() % 5)"
      switch random.next() % 3 {
      case 0:
        lines.append(number, for: host)
        waiting[host, default: []].append(number)
      case 1 where active[host, default: 0] > 0:
        lines.left(host)
        active[host, default: 0] -= 1
      default:
        guard let (item, host) = lines.next() else {
          let isLeftOut = waiting.contains { !$1.isEmpty && active[$0, default: 0] < 3 }
          #expect(!isLeftOut)
          continue
        }
        #expect(waiting[host]?.removeFirst() == item)
        active[host, default: 0] += 1
        #expect(active[host, default: 0] <= 3)
      }
    }
  }

  private func next(_ lines: inout HostLines<Int>) -> Int? { lines.next()?.item }
}
