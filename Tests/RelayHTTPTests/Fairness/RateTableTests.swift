import RelayCore
import Testing

@testable import RelayHTTP

/// The answers of token buckets to a sequence of requests.
@Suite struct RateTableTests {
  private func at(_ seconds: Double) -> Instant {
    Instant(milliseconds: 1_000_000 + Int64((seconds * 1_000).rounded()))
  }

  @Test func `a full bucket may be spent at once and refills in a minute`() {
    var table = RateTable<String>(perMinute: 60, keysMax: 10)
    #expect(table.take(60, for: "a", at: at(0)) == .granted)
    #expect(table.take(for: "a", at: at(0)) == .refused(retryAfter: .seconds(1)))
    #expect(table.take(30, for: "a", at: at(0)) == .refused(retryAfter: .seconds(30)))
    #expect(table.take(for: "a", at: at(0.9)) == .refused(retryAfter: Span(milliseconds: 100)))
    #expect(table.take(for: "a", at: at(1)) == .granted)
    #expect(table.take(for: "a", at: at(1)) == .refused(retryAfter: .seconds(1)))
    #expect(table.take(60, for: "a", at: at(61)) == .granted)
    #expect(table.take(60, for: "b", at: at(61)) == .granted, "each has a bucket of its own")
  }

  @Test func `a caller that waits for the stated time is granted its request`() {
    var table = RateTable<String>(perMinute: 7, keysMax: 10)
    var now = at(0)
    for _ in 0..<50 {
      guard case .refused(let wait) = table.take(3, for: "a", at: now) else { continue }
      #expect(table.take(3, for: "a", at: now + wait - Span(milliseconds: 1)) != .granted)
      now = now + wait
      #expect(table.take(3, for: "a", at: now) == .granted)
    }
  }

  @Test func `a request larger than the bucket takes one full bucket`() {
    var table = RateTable<String>(perMinute: 10, keysMax: 10)
    #expect(table.take(1_000, for: "a", at: at(0)) == .granted)
    #expect(table.take(1_000, for: "a", at: at(59)) == .refused(retryAfter: .seconds(1)))
    #expect(table.take(1_000, for: "a", at: at(60)) == .granted)
  }

  @Test func `a spend without a check becomes a debt of at most one full bucket`() {
    var table = RateTable<String>(perMinute: 60, keysMax: 10)
    #expect(table.take(50, for: "a", at: at(0)) == .granted)
    table.spend(20, for: "a", at: at(0))
    #expect(table.take(for: "a", at: at(0)) == .refused(retryAfter: .seconds(11)))
    #expect(table.take(for: "a", at: at(11)) == .granted)
    table.spend(1_000, for: "a", at: at(11))
    #expect(table.take(for: "a", at: at(11)) == .refused(retryAfter: .seconds(61)))
    #expect(table.take(for: "a", at: at(72)) == .granted)
  }

  @Test func `a look at a bucket takes nothing from it`() {
    var table = RateTable<String>(perMinute: 2, keysMax: 10)
    for _ in 0..<5 { #expect(table.look(for: "a", at: at(0)) == .granted) }
    #expect(table.take(2, for: "a", at: at(0)) == .granted)
    #expect(table.look(for: "a", at: at(0)) == .refused(retryAfter: .seconds(30)))
    #expect(table.look(for: "a", at: at(30)) == .granted)
    #expect(table.take(for: "a", at: at(30)) == .granted)
  }

  /// The table is bounded: it forgets the keys that were idle longest and keeps a key in use.
  @Test func `many new keys neither grow the table nor reset a busy caller`() {
    var table = RateTable<Int>(perMinute: 1_000, keysMax: 100)
    #expect(table.take(1_000, for: -1, at: at(0)) == .granted)
    for number in 0..<10_000 {
      // The busy caller sends a request as soon as its bucket grants one.
      if number % 20 == 0 {
        let now = at(Double(number / 20) * 0.06)
        let answer = table.take(for: -1, at: now)
        #expect(answer == (number == 0 ? .refused(retryAfter: Span(milliseconds: 60)) : .granted))
        #expect(table.look(for: -1, at: now) != .granted, "its bucket is empty all the time")
      }
      #expect(table.take(for: number, at: at(Double(number / 20) * 0.06)) == .granted)
      #expect(table.count <= 100)
    }
  }
}
