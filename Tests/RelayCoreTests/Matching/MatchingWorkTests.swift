@testable import RelayCore
import Testing

/// The cost of one change: bounded by the user's subscriptions plus the record, never by their
/// product. Operations are counted because time is unreliable on a busy machine.
@Suite struct MatchingWorkTests {
  private static let subscriptions = 1_000
  private static let filtersEach = 20

  /// - Parameter filter: makes the filter with the given number, which no other filter has.
  private func index(
    _ database: Database = .private, subscriptions: Int = subscriptions,
    filtersEach: Int = filtersEach, _ filter: (Int) -> QueryRule.Filter
  ) -> SubscriptionIndex {
    var index = SubscriptionIndex()
    for number in 0..<subscriptions {
      let filters = (0..<filtersEach).map { filter(number * filtersEach + $0) }
      let subscription = Subscription(
        id: SubscriptionID("s\(number)"), database: database,
        rule: .query(QueryRule(recordType: "T", filters: filters)), info: NotificationInfo())
      index.save(
        SubscriptionIndex.Held(
          serial: Sample.position(UInt64(number + 1)), subscription: subscription),
        of: database == .public ? number : 0, in: Sample.scope)
    }
    return index
  }

  private func reading(_ fields: [Field], _ database: Database = .private) -> ChangeReading {
    let record = RecordChange(verb: .updated, name: "r", type: "T", fields: fields)
    return ChangeReading(
      Change(
        scope: Sample.scope, database: database,
        zone: database == .public ? .publicDefault : Sample.zone, event: .record(record),
        time: .zero, notification: Sample.nid(1), fingerprint: 1))
  }

  /// The number of subscriptions that fire for a change. The call also makes the index check the
  /// filters of those that do not fire.
  private func matches(_ index: SubscriptionIndex, _ reading: inout ChangeReading) -> Int {
    index.matches(&reading, in: .private, of: 0, before: Ordinal(1 << 40)).count
  }

  private func text(_ number: Int) -> FieldValue { .string("v\(number)") }

  /// Each filter names a field of its own, which is found by its name. A scan would take a thousand
  /// times as long for 50,000 fields as for 50.
  @Test func `a filter costs the same in a record with many fields`() {
    let count = Self.subscriptions * Self.filtersEach
    let index = index { number in
      QueryRule.Filter(field: "f\(number)", comparator: .notEquals, value: .string("x"))
    }
    func seconds(_ fields: Int) -> Double {
      var reading = reading(
        (0..<fields).map { Field(name: "f\($0 * count / fields)", value: self.text($0)) })
      let begin = ContinuousClock.now
      _ = matches(index, &reading)
      let time = ContinuousClock.now - begin
      #expect(reading.work <= Self.subscriptions + count && reading.read == 0)
      return Double(time.components.attoseconds) / 1e18 + Double(time.components.seconds)
    }
    var whole = reading((0..<50_000).map { Field(name: "f\($0)", value: self.text($0)) })
    #expect(matches(index, &whole) == Self.subscriptions)
    #expect(whole.work == Self.subscriptions + count)
    // With few fields the first filter of each subscription fails, so a twentieth of the filters is
    // checked.
    #expect(seconds(50_000) < 200 * seconds(50))
  }

  @Test(arguments: [
    QueryRule.Comparator.listContains, .notListContains, .listContainsAll, .listContainsAny,
  ])
  func `a list is read once for all filters`(comparator: QueryRule.Comparator) {
    let length = 50_000
    let index = index { number in
      let value = text(comparator == .notListContains ? -1 - number : number)
      return QueryRule.Filter(
        field: "list", comparator: comparator,
        value: comparator.operand == .list ? .list([value]) : value)
    }
    var reading = reading([Field(name: "list", value: .list((0..<length).map(text)))])
    #expect(matches(index, &reading) == Self.subscriptions)
    #expect(reading.work == Self.subscriptions * (1 + 2 * Self.filtersEach))
    #expect(reading.read == 2 * length)
  }

  @Test func `a list is sorted once for all prefix filters`() {
    let length = 50_000
    let index = index { number in
      QueryRule.Filter(
        field: "list", comparator: .listMemberBeginsWith, value: .string("v\(number)"))
    }
    var reading = reading([Field(name: "list", value: .list((0..<length).map(text)))])
    #expect(matches(index, &reading) == Self.subscriptions)
    #expect(reading.work <= Self.subscriptions * (1 + 18 * Self.filtersEach))
    #expect(reading.read <= 19 * length)
  }

  @Test func `a text is split into words once for all searches`() {
    let long = (0..<50_000).map { "w\($0)" }.joined(separator: " ")
    for field in ["text", QueryRule.Filter.wholeRecord] {
      let index = index { number in
        QueryRule.Filter(
          field: field, comparator: .containsAllTokens,
          value: .string("w\(number) w\(number + 1)"))
      }
      var reading = reading([
        Field(name: "other", value: .int64(1)), Field(name: "text", value: .string(long)),
      ])
      #expect(matches(index, &reading) == Self.subscriptions)
      #expect(reading.work == Self.subscriptions * (1 + 3 * Self.filtersEach))
      #expect(reading.read <= long.utf8.count + 2)
    }
  }

  @Test func `a field that no filter needs is not read`() {
    let index = index(subscriptions: 3, filtersEach: 1) { _ in
      QueryRule.Filter(field: "n", comparator: .equals, value: .int64(1))
    }
    var reading = reading([
      Field(name: "list", value: .list((0..<10_000).map(text))), Field(name: "n", value: .int64(1)),
    ])
    #expect(matches(index, &reading) == 3 && reading.read == 0 && reading.work == 6)
  }

  /// The cost of the looks ends a slice, not their number. Each look in this test is expensive: it
  /// compares 128 members for each of 20 filters.
  @Test func `a slice of expensive subscriptions is short`() {
    let choices = FieldValue.list((0..<128).map(text))
    let each = 1 + Self.filtersEach * 129
    let index = index(.public, subscriptions: 300) { _ in
      QueryRule.Filter(field: "n", comparator: .notIn, value: choices)
    }
    let limit = 10
    var cursor: Position? = .zero
    var (hits, calls) = (0, 0)
    while let from = cursor {
      var reading = reading([Field(name: "n", value: .string("none"))], .public)
      let page = index.publicMatches(
        &reading, after: from, before: Ordinal(1 << 40), limit: limit)
      #expect(reading.work < (limit + 1) * 128 + each)
      #expect(page.next.map { $0 > from } ?? true)
      hits += page.hits.count
      cursor = page.next
      calls += 1
    }
    #expect(hits == 300 && calls >= 300 * each / ((limit + 1) * 128 + each))
  }

  /// Each subscriber filters on another member of one list, so there are as many posting lists to
  /// merge as subscribers.
  @Test func `many postings of one record are merged in proportional time`() {
    func seconds(_ count: Int) -> Double {
      let index = index(.public, subscriptions: count, filtersEach: 1) { number in
        QueryRule.Filter(field: "list", comparator: .listContains, value: text(number))
      }
      let list = FieldValue.list((0..<count).map(text))
      // Of several runs the fastest counts, because other processes slow some of them.
      var fastest = Duration.seconds(3_600)
      for _ in 0..<5 {
        var reading = reading([Field(name: "list", value: list)], .public)
        let begin = ContinuousClock.now
        let page = index.publicMatches(
          &reading, after: .zero, before: Ordinal(1 << 40), limit: count)
        fastest = min(fastest, ContinuousClock.now - begin)
        #expect(page.hits.map(\.user) == Array(0..<count))
      }
      return fastest / .seconds(1)
    }
    // Because of the logarithm, 16 times as many postings take a little more than 16 times as long.
    // A comparison of all pairs would take 256 times as long.
    #expect(seconds(8_000) < 80 * seconds(500))
  }

  /// A subscription asks for one member. The list is not searched anew at each look, and the cost
  /// is reported.
  @Test func `a long list is read once for few postings`() {
    let length = 50_000
    let index = index(.public, subscriptions: 1, filtersEach: 1) { _ in
      QueryRule.Filter(field: "list", comparator: .listContains, value: text(-1))
    }
    for value in [FieldValue.list((0..<length).map(text)), .list((0..<length).map(reference))] {
      var reading = reading([Field(name: "list", value: value)], .public)
      for _ in 0..<20 {
        let page = index.publicMatches(
          &reading, after: .zero, before: Ordinal(1 << 40), limit: 10)
        #expect(page.hits.isEmpty && page.next == nil)
      }
      #expect((length...3 * length).contains(reading.read) && reading.work <= 20)
    }
  }

  /// The index keeps a reference under the name of its record, whatever its zone, so the list's
  /// members are looked up under the names of their records too. A list of up to 16 members is
  /// searched member by member, and a longer list by a set.
  @Test(arguments: [2, 40])
  func `a list with more members than postings finds its member`(length: Int) {
    func elsewhere(_ number: Int) -> FieldValue {
      .reference(recordName: "v\(number)", zone: ZoneID(name: "Other", owner: Sample.owner))
    }
    for make in [text, reference, elsewhere] {
      let index = index(.public, subscriptions: 1, filtersEach: 1) { _ in
        QueryRule.Filter(field: "list", comparator: .listContains, value: make(1))
      }
      for (first, users) in [(0, [0]), (2, [])] {
        let list = FieldValue.list((first..<first + length).map(make))
        let found = reading([Field(name: "list", value: list)], .public).change
        let page = index.publicMatches(
          found, after: .zero, before: Ordinal(1 << 40), limit: 10)
        #expect(page.hits.map(\.user) == users)
      }
    }
  }

  private func reference(_ number: Int) -> FieldValue {
    .reference(recordName: "v\(number)", zone: nil)
  }

  /// The change tag is a system field, not one of the record's fields. The index finds filters on
  /// the change tag too.
  @Test func `the index looks up a public filter on the change tag`() {
    let tag = SystemField.changeTag.rawValue
    let index = index(.public, filtersEach: 1) { number in
      QueryRule.Filter(field: tag, comparator: .equals, value: .string("\(number)"))
    }
    var reading = reading([], .public)
    guard case .record(var record) = reading.change.event else {
      Issue.record("the change is of no record")
      return
    }
    record.tag = "7"
    var change = reading.change
    change.event = .record(record)
    reading = ChangeReading(change)
    let page = index.publicMatches(&reading, after: .zero, before: Ordinal(1 << 40), limit: 10)
    #expect(page.hits.map(\.user) == [7] && page.next == nil)
    #expect(reading.work == 2)
    record.tag = nil
    change.event = .record(record)
    #expect(
      index.publicMatches(change, after: .zero, before: Ordinal(1 << 40), limit: 10).hits.isEmpty)
  }

  /// The caller bounds the work of a turn, so each step returns its cost.
  @Test func `a step reports its cost`() {
    var relay = Relay([], limits: Limits(), policy: WakePolicy())
    var effects: [Effect] = []
    let user = Sample.zone.owner
    let home = PartitionID.home(of: user, in: Sample.scope)
    let operations = (0..<200).map { number in
      let filters = (0..<Self.filtersEach).map { filter in
        QueryRule.Filter(
          field: "n", comparator: .notEquals, value: .string("\(number) \(filter)"))
      }
      return SubscriptionsRequest.Operation.save(
        Subscription(
          id: SubscriptionID("s\(number)"), database: .private,
          rule: .query(QueryRule(recordType: "T", filters: filters)), info: NotificationInfo()))
    }
    let request = SubscriptionsRequest(
      scope: Sample.scope, user: user, database: .private, operations: operations)
    let saving = relay.step(
      .modify(request), in: home, ordinal: Ordinal(1), at: .zero, into: &effects)
    #expect(saving >= 200)
    let change = reading([Field(name: "n", value: text(1))]).change
    let heavy = relay.step(
      .change(change), in: home, ordinal: Ordinal(2), at: .zero, into: &effects)
    #expect(heavy >= 200 * (1 + Self.filtersEach + StepCost.notification))
    let light = relay.step(.tick, in: home, ordinal: Ordinal(3), at: .zero, into: &effects)
    #expect(light == StepCost.fact)
    for number: UInt64 in 1...2 {
      let registration = Registration(
        scope: Sample.scope, user: user, client: Sample.client(number),
        address: Sample.address(UInt8(number)))
      _ = relay.step(
        .register(registration), in: home, ordinal: Ordinal(3 + number), at: .zero, into: &effects)
    }
    var other = change
    other.fingerprint = 2
    let again = relay.step(
      .change(other), in: home, ordinal: Ordinal(6), at: .zero, into: &effects)
    #expect(again == heavy + 200 * 2 * StepCost.delivery, "each notification comes to two lanes")
  }
}
