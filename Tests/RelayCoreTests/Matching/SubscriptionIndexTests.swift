@testable import RelayCore
import Testing

/// Matching and the index, compared with an oracle that checks every subscription.
@Suite struct SubscriptionIndexTests {
  private struct World {
    var index = SubscriptionIndex()
    var all: [(user: Int, scope: Scope, held: SubscriptionIndex.Held)] = []
    var ordinal: UInt64 = 0
    var draw: MatchDraw

    init(seed: UInt64) { draw = MatchDraw(seed: seed) }

    mutating func churn() {
      if !all.isEmpty && draw.draw.chance(25) {
        let gone = all.remove(at: draw.draw.below(all.count))
        index.remove(serial: gone.held.serial, of: gone.user, in: gone.scope)
        return
      }
      if !all.isEmpty && draw.draw.chance(20) {
        let place = draw.draw.below(all.count)
        all[place].held = SubscriptionIndex.Held(
          serial: all[place].held.serial, subscription: draw.subscription())
        index.save(all[place].held, of: all[place].user, in: all[place].scope)
        return
      }
      ordinal += 1
      let held = SubscriptionIndex.Held(
        serial: Sample.position(ordinal, draw.draw.below(3)), subscription: draw.subscription())
      let user = draw.draw.below(8)
      let scope = MatchDraw.scopes[user % 2]
      all.append((user, scope, held))
      index.save(held, of: user, in: scope)
    }

    /// The subscriptions that must fire, as `MatchOracle` says, ordered by serial.
    func expected(
      _ change: Change, before: Ordinal, _ isConcerned: (Int, Scope, Subscription) -> Bool
    ) -> [SubscriptionIndex.Hit] {
      all
        .filter {
          isConcerned($0.user, $0.scope, $0.held.subscription) && $0.held.serial.ordinal < before
            && MatchOracle.fires($0.held.subscription, change)
        }
        .sorted { $0.held.serial < $1.held.serial }
        .map { SubscriptionIndex.Hit(user: $0.user, held: $0.held) }
    }

    /// The hits of all pages of a fan-out; each page has at most `limit` hits.
    func pages(_ change: Change, before: Ordinal, limit: Int) -> [SubscriptionIndex.Hit] {
      var (found, cursor): ([SubscriptionIndex.Hit], Position) = ([], .zero)
      while true {
        let page = index.publicMatches(change, after: cursor, before: before, limit: limit)
        found += page.hits
        #expect(page.hits.count <= limit)
        guard let next = page.next else { return found }
        #expect(next > cursor)
        cursor = next
      }
    }
  }

  @Test(arguments: [1, 2, 3])
  func `a query rule fires as the oracle expects`(seed: UInt64) {
    var draw = MatchDraw(seed: seed)
    var fired = 0
    for round in 0..<10_000 {
      let change = draw.change(.private)
      guard case .record(let record) = change.event else { continue }
      var rule = draw.rule()
      // For 80 of 100 changes, only the filters decide whether the subscription fires.
      if draw.draw.chance(80) {
        (rule.recordType, rule.firesOn, rule.zone) = (record.type, .all, nil)
      }
      let subscription = Subscription(
        id: SubscriptionID("s"), database: .private, rule: .query(rule), info: NotificationInfo())
      let expected = MatchOracle.fires(subscription, change)
      if expected && !rule.filters.isEmpty { fired += 1 }
      if subscription.fires(for: change) != expected {
        Issue.record("round \(round): should be \(expected): \(rule) of \(change.event)")
        return
      }
    }
    #expect(fired > 200, "the draws meet too rarely to show anything: \(fired)")
  }

  @Test(arguments: [6, 16])
  func `pages of public matches equal a brute-force search in order`(seed: UInt64) {
    var world = World(seed: seed)
    var fired = 0
    for round in 0..<1_200 {
      world.churn()
      let change = world.draw.change(.public)
      let before = Ordinal(UInt64(world.draw.draw.below(Int(world.ordinal) + 2)))
      let expected = world.expected(change, before: before) {
        $1 == change.scope && $2.database == .public
      }
      fired += expected.count
      let found = world.pages(change, before: before, limit: 1 + world.draw.draw.below(4))
      if found != expected {
        Issue.record("round \(round): \(found) is not \(expected)")
        return
      }
    }
    #expect(fired > 1_000, "\(fired)")
  }

  @Test func `a user's own matches equal a brute-force search`() {
    var world = World(seed: 7)
    for round in 0..<1_200 {
      world.churn()
      let change = world.draw.change(.private)
      let user = world.draw.draw.below(8)
      let before = Ordinal(UInt64(world.draw.draw.below(Int(world.ordinal) + 2)))
      let expected = world.expected(change, before: before) {
        $0 == user && $2.database == .private
      }
      let found = world.index.matches(change, in: .private, of: user, before: before)
      if found != expected.map(\.held) {
        Issue.record("round \(round): \(found) is not \(expected)")
        return
      }
    }
  }

  @Test func `saved and removed subscriptions leave nothing in the index`() {
    var world = World(seed: 8)
    for _ in 0..<2_000 { world.churn() }
    for item in world.all {
      let found = world.index.all(of: item.user).filter { $0.serial == item.held.serial }
      #expect(found == [item.held])
    }
    for item in world.all {
      world.index.remove(serial: item.held.serial, of: item.user, in: item.scope)
    }
    #expect((0..<8).allSatisfy { world.index.all(of: $0).isEmpty })
    #expect(world.index.isWithoutPostings)
  }

  /// A search without hits ends after a bounded number of looks; the next page continues it.
  @Test func `a slice that finds few matches still ends`() {
    var index = SubscriptionIndex()
    let count = 1_000
    for number in 1...count {
      let filter = QueryRule.Filter(
        field: "n", comparator: .lessThan, value: .int64(number == count ? 5 : 0))
      let subscription = Subscription(
        id: SubscriptionID("s"), database: .public,
        rule: .query(QueryRule(recordType: "T", filters: [filter])), info: NotificationInfo())
      index.save(
        SubscriptionIndex.Held(
          serial: Sample.position(UInt64(number)), subscription: subscription),
        of: number, in: Sample.scope)
    }
    let record = RecordChange(
      verb: .created, name: "r", type: "T", fields: [Field(name: "n", value: .int64(1))])
    let change = Change(
      scope: Sample.scope, database: .public, zone: .publicDefault, event: .record(record),
      time: .zero, notification: Sample.nid(1), fingerprint: 1)
    let first = index.publicMatches(
      change, after: .zero, before: Ordinal(5_000), limit: 1)
    #expect(first.hits.isEmpty && first.next == Sample.position(128))
    var (cursor, calls): (Position?, Int) = (.zero, 0)
    var found: [Int] = []
    while let from = cursor {
      let page = index.publicMatches(change, after: from, before: Ordinal(5_000), limit: 1)
      found += page.hits.map(\.user)
      cursor = page.next
      calls += 1
    }
    #expect(found == [count] && calls == 8)
  }
}
