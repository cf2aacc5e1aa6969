@testable import RelayCore
import Testing

/// A burst under the adaptive budget: the lane tells the burst's first change at once, and the rest
/// when the burst is over.
@Suite struct BurstTests {
  /// The lane of a device that answers. With `max` 3 the even gap between two wakes is 20 minutes.
  /// The last wake was two hours ago.
  private func rig(max: Int = 3) -> LaneRig {
    var rig = LaneRig()
    rig.policy.mode = .adaptive
    rig.policy.background.max = max
    round(&rig)
    rig.advance(7_200)
    rig.attempts = []
    return rig
  }

  /// Sends one wake as soon as the lane allows it, for a new change if nothing is pending. The
  /// device answers 100 seconds later.
  private func round(_ rig: inout LaneRig) {
    if rig.lane.pending.isEmpty { rig.zone(0) }
    tell(&rig)
    rig.advance(100)
    rig.lane.answered(at: rig.now, policy: rig.policy)
    rig.fetched()
  }

  private func tell(_ rig: inout LaneRig) {
    #expect(rig.wake() != nil)
    rig.delivered()
  }

  /// Offers `count` changes, and sends each wake at the time when that wake is due.
  ///
  /// - Returns: when the last change came.
  @discardableResult
  private func burst(
    _ count: Int, every seconds: Int64, isUrgent: Bool = false, _ rig: inout LaneRig
  ) -> Instant {
    for index in 0..<count {
      let next = rig.now + .seconds(seconds)
      rig.zone(0, isUrgent: isUrgent)
      guard index < count - 1 else { break }
      while let due = due(&rig), due < next {
        rig.now = max(rig.now, due)
        tell(&rig)
        rig.lane.answered(at: rig.now + .seconds(100), policy: rig.policy)
        rig.fetched()
      }
      rig.now = next
    }
    return rig.now
  }

  private func due(_ rig: inout LaneRig) -> Instant? {
    var ahead = rig
    return ahead.wake() == nil ? nil : ahead.now
  }

  private func minutes(_ rig: LaneRig) -> [Double] {
    let times = rig.attempts.map(\.at)
    return zip(times.dropFirst(), times).map { Double(($0 - $1).milliseconds) / 60_000 }
  }

  @Test(arguments: [(silence: 240.0, isMany: true), (240.001, false)])
  func `a burst ends after more than four minutes of silence`(silence: Double, isMany: Bool) {
    var burst = Burst()
    burst.goOn(at: .s(1))
    burst.goOn(at: .s(1 + silence))
    #expect(burst.isMany == isMany)
  }

  @Test func `a burst's first change is told at once, and the rest after silence`() {
    var rig = rig()
    let first = rig.now
    let last = burst(12, every: 30, &rig)
    #expect(rig.attempts.map(\.at) == [first + rig.policy.window])
    tell(&rig)
    #expect(rig.now == last + Burst.silence, "9.5 minutes after the first, not 20")
  }

  @Test func `a long burst is told at even gaps of the configured budget`() {
    var rig = rig()
    burst(90, every: 40, &rig)
    #expect(minutes(rig) == [20, 20])
  }

  /// A burst uses only the configured number of wakes. Quick answers taught the relay that it may
  /// send more wakes, but those are for changes that come one by one.
  @Test func `a burst does not spend wakes learnt beyond the configured number`() {
    var rig = rig()
    teachTwelve(&rig)
    burst(90, every: 40, &rig)
    #expect(minutes(rig) == [20, 20])
    rig.advance(3_600)
    rig.attempts = []
    for _ in 0..<4 { round(&rig) }
    #expect(minutes(rig) == [5, 5, 5])
  }

  private func teachTwelve(_ rig: inout LaneRig) {
    let rule = rig.policy.background
    for _ in 0..<12 { rig.lane.adaptation.learnt.answered(after: .seconds(1), spent: 12, rule) }
    #expect(rig.lane.backgroundRule(rig.policy).max == 12)
  }

  @Test func `a single change waits for the even gap`() {
    var rig = rig()
    tell(after: 0, &rig)
    tell(after: 300, &rig)
    #expect(minutes(rig) == [20])
  }

  private func tell(after seconds: Double, _ rig: inout LaneRig) {
    rig.fetched()
    rig.advance(seconds)
    rig.zone(0)
    tell(&rig)
  }

  /// Changes of the same moment, as one request reports them, are no burst.
  @Test func `changes of the same moment do not form a burst`() {
    var rig = rig()
    tell(after: 0, &rig)
    rig.fetched()
    rig.advance(300)
    for zone in 0..<3 { rig.zone(zone) }
    tell(&rig)
    #expect(minutes(rig) == [20])
  }

  /// Two bursts use up the three wakes of the hour. The third burst is told when the first wake is
  /// an hour old.
  @Test func `a burst's end brings no wake forward beyond the configured number`() {
    var rig = rig()
    let first = rig.now
    burst(2, every: 30, &rig)
    round(&rig)
    rig.advance(60)
    burst(2, every: 30, &rig)
    round(&rig)
    rig.advance(60)
    burst(2, every: 30, &rig)
    tell(&rig)
    #expect(minutes(rig).prefix(2).allSatisfy { $0 < 10 })
    #expect(rig.now == first + rig.policy.window + .hours(1))
  }

  /// Twelve learnt wakes an hour are five minutes apart, and a burst ends sooner: after four silent
  /// minutes.
  @Test func `a burst's end brings no learnt wake forward`() {
    var rig = rig()
    teachTwelve(&rig)
    for _ in 0..<4 {
      burst(2, every: 30, &rig)
      tell(&rig)
      rig.lane.answered(at: rig.now, policy: rig.policy)
      rig.fetched()
      rig.advance(10)
    }
    #expect(minutes(rig).map { ($0 * 60).rounded() } == [270, 280, 300, 300])
  }

  @Test func `a configured budget of one wake stays one during a burst`() {
    var rig = rig(max: 1)
    burst(4, every: 30, &rig)
    tell(&rig)
    #expect(minutes(rig) == [60])
  }

  /// The end of a burst does not shorten the gaps of the ladder for a change that was told before.
  @Test func `a burst's end does not bring a re-wake forward`() {
    var rig = rig()
    burst(4, every: 30, &rig)
    tell(&rig)
    tell(&rig)
    #expect(rig.lane.ladderStep == 1 && minutes(rig).last == 20)
  }

  @Test func `an urgent change does not wait for the burst's silence`() {
    var rig = rig()
    burst(4, every: 30, &rig)
    rig.advance(10)
    rig.zone(1, isUrgent: true)
    tell(&rig)
    #expect(minutes(rig) == [99.5 / 60], "the first was told after its window")
  }

  /// A reserved share is not spread: urgent changes may use it at any time.
  @Test func `the reserved share is not spread over the hour`() {
    var rig = rig()
    rig.policy.reserved = 1
    tell(after: 0, &rig)
    rig.fetched()
    rig.advance(300)
    rig.zone(1, isUrgent: true)
    tell(&rig)
    #expect(minutes(rig) == [300.5 / 60])
  }

  /// Bursts are not durable, so the first wake after a restart waits for the even gap.
  @Test func `the even gap holds after a restart`() {
    var rig = rig()
    burst(12, every: 30, &rig)
    var again = rig.recovered()
    tell(&again)
    #expect(minutes(again) == [20])
  }

  /// The budget (P7) holds for urgent and ordinary changes, in bursts and one by one.
  @Test func `the budget holds in any traffic`() {
    var draw = SeededRandom(seed: 7)
    var rig = rig()
    for _ in 0..<60 {
      let (count, gap) = (1 + draw.below(9), Int64(1 + draw.below(200)))
      burst(count, every: gap, isUrgent: draw.below(4) == 0, &rig)
      round(&rig)
      rig.advance(Double(draw.below(900)))
    }
    let times = rig.attempts.map(\.at)
    #expect(times.count > 60)
    for (index, time) in times.enumerated().dropFirst(3) {
      #expect(time - times[index - 3] >= .hours(1))
    }
  }
}
