import RelayCore
import Testing

@testable import RelayHTTP

/// How a bound is divided among those who take of it.
@Suite struct SharesTests {
  @Test func `one caller takes its share and the others take theirs`() {
    var shares = Shares<String>(most: 10)
    #expect(shares.take(3, for: "a", share: 4) == .taken)
    #expect(shares.take(2, for: "a", share: 4) == .callerHasItsShare)
    #expect(shares.take(1, for: "a", share: 4) == .taken)
    #expect(shares.take(4, for: "b", share: 4) == .taken)
    #expect(shares.take(3, for: "c", share: 4) == .full)
    #expect(shares.take(2, for: "c", share: 4) == .taken)
    #expect(shares.all == 10)
  }

  @Test func `what is given back can be taken again, and nothing stays behind`() {
    var shares = Shares<String>(most: 4)
    for name in ["a", "b", "a"] {
      #expect(shares.take(4, for: name, share: 4) == .taken)
      #expect(shares.take(for: "z", share: 4) == .full)
      shares.giveBack(1, of: name)
      #expect(shares.take(for: "z", share: 4) == .taken)
      shares.giveBack(of: "z")
      shares.giveBack(3, of: name)
      #expect(shares.all == 0)
    }
  }

  /// What is refused takes nothing, whichever bound refused it.
  @Test func `a refusal takes nothing`() {
    var shares = Shares<String>(most: 3)
    #expect(shares.take(2, for: "a", share: 2) == .taken)
    #expect(shares.take(1, for: "a", share: 2) == .callerHasItsShare)
    #expect(shares.take(2, for: "b", share: 2) == .full)
    #expect(shares.all == 2)
    #expect(shares.take(1, for: "b", share: 2) == .taken)
  }

  /// What a caller's facts take in memory while they wait; one that is larger is taken alone.
  @Test func `a caller has a share of the inbox's bytes`() throws {
    let facts = [
      Fact.setBadge(BadgeRequest(scope: Rig.scope, user: UserID("_a"), topic: nil, badge: 1))
    ]
    let bytes = facts[0].footprint
    var limits = HTTPLimits()
    limits.inboxBytes = 8 * (2 * bytes)
    let fairness = Fairness(limits)
    let user = CallerID.user(Rig.scope, UserID("_a"))
    let producer = CallerID.producer(Rig.scope, "records-1")
    for (caller, share) in [(user, 2), (producer, 8)] {
      let taken = try (0..<share).map { _ in try fairness.take(facts, for: caller) }
      let refusal = #expect(throws: WireError.self) { try fairness.take(facts, for: caller) }
      #expect(refusal?.code == .throttled && refusal?.retryAfterSeconds == 1)
      fairness.giveBack(taken[0], of: caller)
      let again = try fairness.take(facts, for: caller)
      for taken in taken.dropFirst() + [again] { fairness.giveBack(taken, of: caller) }
      let large = Array(repeating: facts[0], count: 100)
      let alone = try fairness.take(large, for: caller)
      #expect(throws: WireError.self) { try fairness.take(facts, for: caller) }
      fairness.giveBack(alone, of: caller)
    }
  }
}
