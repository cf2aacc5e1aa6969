import Testing

@testable import RelayCore

/// A change goes to the partitions with a subscription to its record type, and carries to each of
/// them only the values that the subscriptions there read.
@Suite struct InterestTests {
  private let key = Interest.Key(scope: Sample.scope, database: .public, recordType: "Article")

  private func record(_ type: String = "Article", _ names: [String] = ["a", "b", "c"])
    -> Change.Event
  {
    .record(
      RecordChange(
        verb: .created, name: "A1", type: type,
        fields: names.map { Field(name: $0, value: .string("value of \($0)")) }))
  }

  private func told(_ cut: PartitionCut) -> [[Interest]] {
    cut.outbox.compactMap { row in
      guard case .interests(let interests) = row.message else { return nil }
      return interests
    }
  }

  private func names(_ row: OutboxRow) -> [String]? {
    guard case .change(let change, _) = row.message, case .record(let record) = change.event else {
      return nil
    }
    return record.fields.map(\.name)
  }

  @Test func `two spellings of a field's name are two fields`() {
    var own = OwnInterest()
    var info = NotificationInfo()
    info.desiredKeys = ["caf\u{e9}", "cafe\u{301}"]
    own.add(
      Subscription(
        id: SubscriptionID("s"), database: .public, rule: .query(QueryRule(recordType: "Article")),
        info: info))
    #expect(own.fields == .all, "a list of names would lose one of the two")
  }

  @Test func `a public change goes to subscribed partitions with the values they read`() {
    var rig = PartitionRig(ZoneID.publicDefault.owner)
    let other = Interest.Key(scope: Sample.scope, database: .public, recordType: "Note")
    for (source, interest) in [
      (3, Interest(key: key, fields: .named(["c", "a", "z"]))),
      (4, Interest(key: key, fields: .named([]))), (5, Interest(key: key, fields: .all)),
      (6, Interest(key: other, fields: .all)),
    ] {
      rig.step(
        .forwarded(
          Forwarded(
            source: PartitionID(source), serial: Sample.position(1),
            message: .interests([interest]))))
    }
    rig.fold()
    rig.change(record(), in: .publicDefault, .public)
    let outbox = rig.fold().outbox
    #expect(outbox.map(\.key.target.number) == [3, 4, 5])
    #expect(outbox.map(names) == [["a", "c"], [], ["a", "b", "c"]])
    rig.change(record("Memo"), in: .publicDefault, .public)
    #expect(rig.fold().outbox.isEmpty)
  }

  @Test func `an interest is sent when it changes and ends with its last subscription`() {
    var rig = PartitionRig()
    let filter = QueryRule.Filter(field: "a", comparator: .equals, value: .int64(1))
    func rule(_ filters: [QueryRule.Filter]) -> Subscription.Rule {
      .query(QueryRule(recordType: "Article", filters: filters))
    }
    rig.save("q1", rule([filter]), .public)
    #expect(told(rig.fold()) == [[Interest(key: key, fields: .named(["a"]))]])
    rig.save("q2", rule([filter, filter]), .public)
    #expect(told(rig.fold()).isEmpty)
    let search = QueryRule.Filter(
      field: QueryRule.Filter.wholeRecord, comparator: .containsAllTokens, value: .string("x"))
    rig.save("q3", rule([search]), .public)
    #expect(told(rig.fold()) == [[Interest(key: key, fields: .all)]])
    rig.delete("q3", .public)
    #expect(told(rig.fold()) == [[Interest(key: key, fields: .named(["a"]))]])
    rig.delete("q1", .public)
    #expect(told(rig.fold()).isEmpty)
    rig.delete("q2", .public)
    #expect(told(rig.fold()) == [[Interest(key: key, fields: .ended)]])
    #expect(rig.partition.interests.isEmpty)
  }

  /// The answer to a saved subscription waits for other partitions only if the subscription adds an
  /// interest.
  @Test func `the answer to a new interest waits until its homes know it`() {
    var rig = PartitionRig()
    func moment() -> Answer.Moment? {
      guard case .answer(_, _, _, let moment)? = rig.last.last else { return nil }
      return moment
    }
    let rule = Subscription.Rule.query(QueryRule(recordType: "Article"))
    rig.save("q1", rule, .public)
    #expect(moment() == .settled)
    rig.save("q2", .query(QueryRule(recordType: "Article", firesOn: .create)), .public)
    #expect(moment() == .folded)
    rig.delete("q1", .public)
    #expect(moment() == .folded)
  }

  @Test func `a subscription that fires once ends its interest when it fires`() {
    let user = users(1, inHomeOf: Sample.owner, true)[0]
    var rig = PartitionRig()
    let rule = QueryRule(recordType: "Article", firesOnce: true)
    rig.save("q", .query(rule), .public, of: user)
    rig.fold()
    rig.hear(
      .change(rig.make(.record(.created), in: .publicDefault, .public), at: Sample.position(1)), 1)
    #expect(told(rig.fold()) == [[Interest(key: key, fields: .ended)]])
  }

  /// Participants get every change. A change's values go only where a subscription in `shared`
  /// reads them.
  @Test func `a shared change carries values only where subscriptions read them`() {
    let guests = users(2, inHomeOf: Sample.owner, false)
    var rig = PartitionRig()
    for guest in guests { rig.change(.granted(guest)) }
    rig.fold()
    rig.change(record())
    #expect(rig.fold().outbox.allSatisfy { names($0) == [] })
    let home = PartitionID.home(of: guests[0], in: Sample.scope)
    let shared = Interest.Key(scope: Sample.scope, database: .shared, recordType: "Article")
    rig.step(
      .forwarded(
        Forwarded(
          source: home, serial: Sample.position(1),
          message: .interests([Interest(key: shared, fields: .named(["b"]))]))))
    rig.change(record())
    for row in rig.fold().outbox {
      #expect(names(row) == (row.key.target == home ? ["b"] : []))
    }
  }

  /// A subscription in `shared` reads changes that may arrive in any partition.
  @Test func `a shared interest is sent to all partitions`() {
    var rig = PartitionRig()
    rig.save("q", .query(QueryRule(recordType: "Article")), .shared)
    #expect(told(rig.fold()).count == PartitionID.count - 1)
  }

  /// The tables restore which interests were sent. So no interest is sent twice, and the end of
  /// each interest is sent.
  @Test func `a restart sends no interest again`() {
    var rig = PartitionRig()
    rig.save("q", .query(QueryRule(recordType: "Article")), .public)
    var tables = PartitionTables(id: rig.partition.id, cursor: Ordinal(rig.ordinal))
    tables.subscriptions = rig.fold().subscriptions
    rig.partition = Partition(tables, limits: Limits(), policy: WakePolicy())
    rig.save("q2", .query(QueryRule(recordType: "Article", firesOn: .create)), .public)
    #expect(told(rig.fold()).isEmpty)
    for id in ["q", "q2"] { rig.delete(id, .public) }
    #expect(told(rig.fold()) == [[Interest(key: key, fields: .ended)]])
  }

  /// Beyond `namesMax` names the interest asks for the whole record.
  @Test func `an interest with too many field names asks for the whole record`() {
    var rig = PartitionRig()
    func filters(_ count: Int) -> [QueryRule.Filter] {
      (0..<count).map {
        QueryRule.Filter(field: "f\($0 + 10)", comparator: .equals, value: .int64(1))
      }
    }
    rig.save(
      "q", .query(QueryRule(recordType: "Article", filters: filters(Interest.namesMax))), .public)
    #expect(
      told(rig.fold()).first?.first?.fields
        == .named(filters(Interest.namesMax).map(\.field).sorted()))
    rig.save(
      "q2", .query(QueryRule(recordType: "Article", filters: filters(Interest.namesMax + 1))),
      .public)
    #expect(told(rig.fold()).first?.first?.fields == .all)
  }
}

extension PartitionRig {
  @discardableResult
  mutating func delete(
    _ id: String, _ database: Database = .private, of user: UserID = Sample.owner
  ) -> Answer {
    step(
      .modify(
        SubscriptionsRequest(
          scope: Sample.scope, user: user, database: database,
          operations: [.delete(SubscriptionID(id))])))
  }
}
