import Testing

@testable import RelayCore

/// A change may fire thousands of subscriptions of one user.
@Suite struct DeliveryStoriesTests {
  private static let count: UInt64 = 1_000

  private func match(
    _ number: UInt64, as part: TracedPart, instead: TracedMatch.Instead? = nil
  ) -> (TracedMatch, TracedMatch.Outcome) {
    let match = TracedMatch(
      notification: Sample.nid(number), user: Users.Key(scope: Sample.scope, user: Sample.owner),
      subscription: SubscriptionID("s"), database: .private, zone: Sample.zone,
      position: Position(bits: number), zonePosition: Position(bits: number), devices: [])
    return (match, .pends(part, gathers: nil, instead: instead))
  }

  @Test func `further matches are not compared with each notification that waits`() {
    var stories = DeliveryStories()
    for number in 1...Self.count { stories.add(match(number, as: .query).0, as: .query) }
    for number in 1...10 * Self.count {
      let (other, outcome) = match(number, as: .query)
      stories.matched(other, outcome)
    }
    #expect(stories.waiting == Int(Self.count))
    // The first thousand come once more, as after a restart.
    #expect(stories.looks == Int(Self.count))
  }

  @Test func `an alert is followed through the alerts that replace it`() {
    var stories = DeliveryStories()
    let first = TracedPart.alert(Sample.nid(1))
    stories.add(match(1, as: first).0, as: first)
    stories.add(match(2, as: .query).0, as: .query)
    for number in 3...Self.count {
      let (other, outcome) = match(
        number, as: .alert(Sample.nid(number)), instead: .replaces(Sample.nid(number - 1)))
      stories.matched(other, outcome)
    }
    #expect(stories.looks == 0, "the alert of notification 2 is none of the two")
    for number in 3...Self.count {
      let (other, outcome) = match(
        number, as: .alert(Sample.nid(number)),
        instead: .replaces(Sample.nid(number == 3 ? 1 : number - 1)))
      stories.matched(other, outcome)
    }
    #expect(stories.looks == Int(Self.count) - 2)
    let shown = TracedWake(
      number: 1, transport: .apns, topic: "t", isAlert: true, runsApp: false,
      shows: Sample.nid(Self.count), names: [], tries: 1, cause: .news)
    let isNews = stories.note(.wake(shown), at: Sample.start)
    #expect(isNews)
    let end = TracedVerdict(wake: 1, .delivered, rests: nil, dropsAlert: false)
    let isEnd = stories.note(.ended(end), at: Sample.start)
    #expect(isEnd)
    #expect(stories.all.map(\.isWaiting) == [false, true])
    #expect(stories.waiting == 1)
  }

  @Test func `an alert that gives way to newer ones ends`() {
    var stories = DeliveryStories()
    let first = TracedPart.alert(Sample.nid(1))
    stories.add(match(1, as: first).0, as: first)
    let (other, outcome) = match(
      2, as: .alert(Sample.nid(2)), instead: .crowdsOut(Sample.nid(1)))
    stories.matched(other, outcome)
    #expect(stories.all.map(\.state) == [.ended(.crowdedOut)])
    #expect(stories.waiting == 0)
  }
}
