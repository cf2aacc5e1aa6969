@testable import RelayCore
import Testing

/// The index against looking at every subscription there is.
@Suite struct SubscriptionIndexTests {
  private struct World {
    var index = SubscriptionIndex()
    var all: [(user: Int, scope: Scope, held: SubscriptionIndex.Held)] = []
    var ordinal: UInt64 = 0

    mutating func churn(_ draw: inout Draw) {
      if !all.isEmpty && draw.chance(25) {
        let gone = all.remove(at: draw.below(all.count))
        index.remove(serial: gone.held.serial, of: gone.user, in: gone.scope)
        return
      }
      if !all.isEmpty && draw.chance(20) {
        let place = draw.below(all.count)
        all[place].held.subscription = SubscriptionIndexTests.subscription(&draw)
        index.save(all[place].held, of: all[place].user, in: all[place].scope)
        return
      }
      ordinal += 1
      let held = SubscriptionIndex.Held(
        serial: Sample.position(ordinal, draw.below(3)),
        subscription: SubscriptionIndexTests.subscription(&draw))
      let user = draw.below(8)
      let scope = SubscriptionIndexTests.scopes[user % 2]
      all.append((user, scope, held))
      index.save(held, of: user, in: scope)
    }
  }

  private static let scopes = [
    Sample.scope, Scope(container: Sample.scope.container, environment: .production),
  ]
  private static let zones = [Sample.zone, ZoneID(name: "History", owner: Sample.owner)]

  private static func field(_ draw: inout Draw) -> Field {
    Field(
      name: draw.pick(["author", "year"]),
      value: draw.chance(50) ? .string("v\(draw.below(3))") : .int64(Int64(draw.below(3))))
  }

  private static func subscription(_ draw: inout Draw) -> Subscription {
    let isPublic = draw.chance(70)
    var firing = QueryRule.Firing(rawValue: UInt8(draw.below(8)))
    if firing.isEmpty { firing = .all }
    let filters = (0..<draw.below(3)).map { _ in
      let field = field(&draw)
      return QueryRule.Filter(
        field: field.name, comparator: .equals, value: field.value)
    }
    let rule: Subscription.Rule =
      if isPublic || draw.chance(40) {
        .query(
          QueryRule(
            recordType: draw.pick(["Article", "Note"]), filters: filters, firesOn: firing,
            zone: draw.chance(20) ? draw.pick(zones) : nil))
      } else if draw.chance(50) {
        .zone(draw.pick(zones), recordType: draw.chance(30) ? "Note" : nil)
      } else {
        .database(recordType: draw.chance(30) ? "Note" : nil)
      }
    return Subscription(
      id: SubscriptionID("s"), database: isPublic ? .public : .private, rule: rule,
      info: NotificationInfo())
  }

  private static func change(_ draw: inout Draw, _ database: Database) -> Change {
    var fields: [Field] = []
    for _ in 0..<draw.below(3) {
      let field = field(&draw)
      if !fields.contains(where: { $0.name == field.name }) { fields.append(field) }
    }
    let verb: RecordChange.Verb = draw.pick([.created, .updated, .deleted])
    let record = RecordChange(
      verb: verb, name: "r", type: draw.pick(["Article", "Note"]), fields: fields)
    let zone = database == .public ? ZoneID.publicDefault : draw.pick(zones)
    return Change(
      scope: draw.pick(scopes), database: database, zone: zone, event: .record(record),
      time: .zero, notification: Sample.nid(1), fingerprint: 1)
  }

  @Test func publicMatchesAreThoseOfABruteSearchInOrderPageByPage() {
    var draw = Draw(seed: 6)
    var world = World()
    for round in 0..<2_500 {
      world.churn(&draw)
      let change = Self.change(&draw, .public)
      guard case .record(let record) = change.event else { continue }
      let before = Ordinal(UInt64(draw.below(Int(world.ordinal) + 2)))
      let expected = world.all
        .filter {
          $0.scope == change.scope && $0.held.subscription.database == .public
            && $0.held.serial.ordinal < before && $0.held.subscription.fires(for: change)
        }
        .sorted { $0.held.serial < $1.held.serial }
        .map { SubscriptionIndex.Hit(user: $0.user, held: $0.held) }
      var found: [SubscriptionIndex.Hit] = []
      let limit = 1 + draw.below(4)
      while true {
        let page = world.index.publicMatches(
          change, record: record, after: found.last?.held.serial ?? .zero, before: before,
          limit: limit)
        found += page
        if page.count < limit { break }
      }
      if found != expected {
        Issue.record("round \(round): \(found) is not \(expected)")
        return
      }
    }
  }

  @Test func aUsersOwnMatchesAreThoseOfABruteSearch() {
    var draw = Draw(seed: 7)
    var world = World()
    for round in 0..<2_500 {
      world.churn(&draw)
      let change = Self.change(&draw, .private)
      let user = draw.below(8)
      let before = Ordinal(UInt64(draw.below(Int(world.ordinal) + 2)))
      let expected = world.all
        .filter {
          $0.user == user && $0.held.subscription.database == .private
            && $0.held.serial.ordinal < before && $0.held.subscription.fires(for: change)
        }
        .sorted { $0.held.serial < $1.held.serial }.map(\.held)
      let found = world.index.matches(change, in: .private, of: user, before: before)
      if found != expected {
        Issue.record("round \(round): \(found) is not \(expected)")
        return
      }
    }
  }
}
