@testable import RelayCore
import Testing

/// Which fields a partition's subscriptions name, kept as they come and go.
@Suite struct NamedFieldsTests {
  private func held(
    _ serial: UInt64, _ fields: [String], _ database: Database = .public, values: [String] = []
  ) -> SubscriptionIndex.Held {
    var info = NotificationInfo()
    info.desiredKeys = values
    let filters = fields.map {
      QueryRule.Filter(
        field: $0, comparator: $0 == "self" ? .containsAnyTokens : .equals, value: .string("x"))
    }
    return SubscriptionIndex.Held(
      serial: Sample.position(serial),
      subscription: Subscription(
        id: SubscriptionID("s\(serial)"), database: database,
        rule: .query(QueryRule(recordType: "T", filters: filters)), info: info))
  }

  @Test func aFieldIsNamedUntilTheLastThatNamesItGoes() {
    var index = SubscriptionIndex()
    index.save(held(1, ["b", "a"], values: ["c"]), of: 0, in: Sample.scope)
    index.save(held(2, ["a", "self"]), of: 1, in: Sample.scope)
    index.save(held(3, ["private"], .private), of: 1, in: Sample.scope)
    var named = index.namedFields(.public, in: Sample.scope)
    #expect(named.names == ["a", "b", "c"] && named.count == 3 && named.searchesWholeRecord)
    #expect(index.namedFields(.private, in: Sample.scope).isEmpty)
    index.remove(serial: Sample.position(1), of: 0, in: Sample.scope)
    named = index.namedFields(.public, in: Sample.scope)
    #expect(named.names == ["a"] && named.contains("a") && !named.contains("b"))
    index.save(held(2, ["d"]), of: 1, in: Sample.scope)
    named = index.namedFields(.public, in: Sample.scope)
    #expect(named.names == ["d"] && !named.searchesWholeRecord)
    index.remove(serial: Sample.position(2), of: 1, in: Sample.scope)
    #expect(index.namedFields(.public, in: Sample.scope).isEmpty)
  }

  /// A participant's database subscription has no filters, and may show a field of the record.
  @Test func argumentsAndCollapseKeysAreNamed() {
    var info = NotificationInfo()
    info.alert.bodyArguments = ["body"]
    info.alert.titleArguments = ["title"]
    info.alert.subtitleArguments = ["subtitle"]
    info.collapseKey = "key"
    var index = SubscriptionIndex()
    index.save(
      SubscriptionIndex.Held(
        serial: Sample.position(1),
        subscription: Subscription(
          id: SubscriptionID("s"), database: .shared, rule: .database(recordType: nil),
          info: info)),
      of: 0, in: Sample.scope)
    #expect(
      index.namedFields(.shared, in: Sample.scope).names == ["body", "key", "subtitle", "title"])
    #expect(index.namedFields(.public, in: Sample.scope).isEmpty)
  }
}
