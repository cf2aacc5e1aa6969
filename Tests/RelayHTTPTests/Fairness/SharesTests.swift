import RelayCore
import Testing

@testable import RelayHTTP

/// How a bound is divided among its callers.
@Suite struct SharesTests {
  @Test func `a caller takes at most its share, and all callers at most the bound`() {
    var shares = Shares<String>(most: 10)
    #expect(shares.take(3, for: "a", share: 4) == .taken)
    #expect(shares.take(2, for: "a", share: 4) == .callerHasItsShare)
    #expect(shares.take(1, for: "a", share: 4) == .taken)
    #expect(shares.take(4, for: "b", share: 4) == .taken)
    #expect(shares.take(3, for: "c", share: 4) == .full)
    #expect(shares.take(2, for: "c", share: 4) == .taken)
    #expect(shares.all == 10)
  }

  @Test func `returned units can be taken again, and the count returns to zero`() {
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

  /// A refused request takes nothing, whichever bound refused it.
  @Test func `a refused request takes nothing`() {
    var shares = Shares<String>(most: 3)
    #expect(shares.take(2, for: "a", share: 2) == .taken)
    #expect(shares.take(1, for: "a", share: 2) == .callerHasItsShare)
    #expect(shares.take(2, for: "b", share: 2) == .full)
    #expect(shares.all == 2)
    #expect(shares.take(1, for: "b", share: 2) == .taken)
  }

  /// An item larger than its caller's share is taken if the caller holds nothing else.
  @Test func `an item larger than a share is taken if its caller holds nothing else`() throws {
    let badge = Fact.setBadge(
      BadgeRequest(scope: Rig.scope, user: UserID("_a"), topic: nil, badge: 1))
    var limits = HTTPLimits()
    limits.inboxBytes = 8 * badge.footprint
    let fairness = Fairness(limits)
    for caller in [
      CallerID.user(Rig.scope, UserID("_a")), .producer(Rig.scope, "records-1"),
    ] {
      let large = Array(repeating: badge, count: 100)
      let alone = try fairness.take(large, for: caller)
      #expect(throws: WireError.self) { try fairness.take([badge], for: caller) }
      fairness.giveBack(alone, of: caller)
      fairness.giveBack(try fairness.take([badge], for: caller), of: caller)
    }
  }
}
