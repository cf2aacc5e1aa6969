@testable import RelayCore
import Testing

/// One case of the filters of CloudKit's Web Services: a comparator over a type.
struct ComparatorRow: CustomTestStringConvertible {
  typealias Value = FieldValue

  let comparator: QueryRule.Comparator
  let value: Value
  let distance: Double?
  let matching: [Value]
  let others: [Value]

  init(
    _ comparator: QueryRule.Comparator, _ value: Value, distance: Double? = nil,
    matches: [Value], others: [Value]
  ) {
    self.comparator = comparator
    self.value = value
    self.distance = distance
    matching = matches
    self.others = others
  }

  var testDescription: String { "\(comparator.name) × \(Self.type(of: value))" }

  /// The row of the opposite comparator.
  func negated(_ opposite: QueryRule.Comparator) -> ComparatorRow {
    ComparatorRow(opposite, value, distance: distance, matches: others, others: matching)
  }

  static func type(of value: Value) -> String {
    guard case .list(let members) = value else { return "\(value.kind)" }
    return "list of " + (members.first.map { "\($0.kind)" } ?? "anything")
  }

  static let zone = Sample.zone
  static let elsewhere = ZoneID(name: "History", owner: Sample.owner)

  static func time(_ milliseconds: Int64) -> Value {
    .timestamp(Instant(milliseconds: milliseconds))
  }

  static func reference(_ name: String, _ zone: ZoneID? = nil) -> Value {
    .reference(recordName: name, zone: zone)
  }

  static func place(_ latitude: Double, _ longitude: Double) -> Value {
    .location(latitude: latitude, longitude: longitude)
  }

  /// Three values of each type. The values of a type that has an order are in that order.
  static let samples: [[Value]] = [
    [.string("ant"), .string("bee"), .string("cow")], [.int64(-7), .int64(5), .int64(.max)],
    [.double(-0.5), .double(5), .double(.infinity)],
    [.bytes([]), .bytes([1, 2]), .bytes([1, 3])], [time(-1), time(0), time(1_700_000_000_000)],
    [reference("A"), reference("B"), reference("C", elsewhere)],
    [place(0, 0), place(48.1, 11.5), place(-90, 180)],
    [.asset("s1"), .asset("s2"), .asset("s3")],
  ]
}

extension ComparatorRow {
  static let all: [ComparatorRow] =
    equality + order + near + words + choices + starts + lists

  private static let equality: [ComparatorRow] = samples.flatMap { values in
    let single = ComparatorRow(
      .equals, values[1], matches: [values[1]], others: [values[0], values[2]])
    let list = ComparatorRow(
      .equals, .list([values[0], values[1]]), matches: [.list([values[0], values[1]])],
      others: [.list([values[1], values[0]]), .list([values[0]]), .list([])])
    return [single, single.negated(.notEquals), list, list.negated(.notEquals)]
  }

  private static let order: [ComparatorRow] = samples.prefix(5).flatMap { values in
    [
      ComparatorRow(.lessThan, values[1], matches: [values[0]], others: [values[1], values[2]]),
      ComparatorRow(
        .lessThanOrEquals, values[1], matches: [values[0], values[1]], others: [values[2]]),
      ComparatorRow(.greaterThan, values[1], matches: [values[2]], others: [values[0], values[1]]),
      ComparatorRow(
        .greaterThanOrEquals, values[1], matches: [values[1], values[2]], others: [values[0]]),
    ]
  }

  /// A degree of a great circle has 111,195 m.
  private static let near: [ComparatorRow] = [
    ComparatorRow(
      .near, place(48, 11), distance: 111_200,
      matches: [place(48, 11), place(49, 11), place(47, 11), place(48, 12.49)],
      others: [place(49.01, 11), place(48, 12.5), place(-48, 11), place(48, -169)]),
    ComparatorRow(
      .near, place(0, 179.5), distance: 111_200,
      matches: [place(0, -179.5), place(0, 180), place(0, -180), place(1, 179.5)],
      others: [place(0, -179.4), place(0, 178.4), place(0, 0)]),
    ComparatorRow(
      .near, place(90, 0), distance: 111_200,
      matches: [place(90, 77), place(89, 0), place(89, 180), place(89, -90)],
      others: [place(88.99, 0), place(-90, 0)]),
    ComparatorRow(
      .near, place(-90, 0), distance: 1, matches: [place(-90, -180)],
      others: [place(-89.99, 0), place(90, 0)]),
    ComparatorRow(
      .near, place(52.5, 13.4), distance: 2, matches: [place(52.500_01, 13.4)],
      others: [place(52.500_02, 13.4)]),
    ComparatorRow(
      .near, place(0, 0), distance: 20_015_000, matches: [place(0, 179.99)],
      others: [place(0, 180), place(0, -180)]),
    ComparatorRow(
      .near, place(0, 0), distance: 30_000_000, matches: [place(0, 180), place(90, 0)],
      others: [place(90.1, 0), place(0, 180.1)]),
  ]

  private static let words: [ComparatorRow] = [
    ComparatorRow(
      .containsAllTokens, .string("Swift, 2026!"),
      matches: [.string("SWIFT in 2026"), .list([.string("swift"), .string("2026")])],
      others: [.string("Swiftly 2026"), .string("swift"), .string(""), .list([.string("2026")])]),
    ComparatorRow(
      .containsAnyTokens, .string("Swift, 2026!"),
      matches: [
        .string("2026-11-21"), .string("(swift)"), .list([.string("x"), .string("swift")]),
      ],
      others: [.string("Swiftly 20261"), .string(" "), .list([])]),
    ComparatorRow(
      .containsAllTokens, .list([.string("élan"), .string("b")]),
      matches: [.string("ÉLAN-b"), .string("e\u{301}lan b")], others: [.string("elan b")]),
    ComparatorRow(
      .containsAnyTokens, .list([.string("x"), .string("b")]), matches: [.string("B")],
      others: [.string("bb")]),
  ]

  private static let choices: [ComparatorRow] = samples.flatMap { values in
    let row = ComparatorRow(
      .in, .list([values[0], values[2]]), matches: [values[0], values[2]], others: [values[1]])
    return [row, row.negated(.notIn)]
  }

  private static let starts: [ComparatorRow] = {
    let start = ComparatorRow(
      .beginsWith, .string("Rea"), matches: [.string("Reading"), .string("Rea")],
      others: [.string("reading"), .string("A Rea"), .string("Re"), .string("")])
    let member = ComparatorRow(
      .listMemberBeginsWith, .string("Rea"),
      matches: [.list([.string("x"), .string("Reading")])],
      others: [.list([.string("x"), .string("Re")]), .list([])])
    return [
      start, start.negated(.notBeginsWith), member, member.negated(.notListMemberBeginsWith),
    ]
  }()

  private static let lists: [ComparatorRow] = samples.flatMap { values in
    let (a, b, c) = (values[0], values[1], values[2])
    let one = ComparatorRow(
      .listContains, b, matches: [.list([a, b]), .list([b])], others: [.list([a, c]), .list([])])
    let all = ComparatorRow(
      .listContainsAll, .list([a, b]), matches: [.list([b, c, a])],
      others: [.list([a, c]), .list([])])
    let any = ComparatorRow(
      .listContainsAny, .list([a, b]), matches: [.list([c, a]), .list([b])],
      others: [.list([c]), .list([])])
    return [
      one, one.negated(.notListContains), all, all.negated(.notListContainsAll), any,
      any.negated(.notListContainsAny),
    ]
  }
}

/// Each comparator with each type: values that match, values that do not match, a missing field,
/// and a value of another type.
@Suite struct ComparatorTests {
  private func passes(_ row: ComparatorRow, _ found: FieldValue?) -> Bool {
    let filter = QueryRule.Filter(
      field: "f", comparator: row.comparator, value: row.value, distance: row.distance)
    var fields = [Field(name: "other", value: row.matching[0])]
    if let found { fields.append(Field(name: "f", value: found)) }
    let rule = QueryRule(recordType: "T", filters: [filter])
    let subscription = Subscription(
      id: SubscriptionID("s"), database: .private, rule: .query(rule), info: NotificationInfo())
    let record = RecordChange(verb: .updated, name: "r", type: "T", fields: fields)
    return subscription.fires(
      for: Change(
        scope: Sample.scope, database: .private, zone: ComparatorRow.zone, event: .record(record),
        time: .zero, notification: Sample.nid(1), fingerprint: 1))
  }

  @Test(arguments: ComparatorRow.all)
  func `each row of the comparator reference matches as documented`(row: ComparatorRow) {
    for value in row.matching { #expect(passes(row, value), "should match \(value)") }
    for value in row.others { #expect(!passes(row, value), "should not match \(value)") }
  }

  @Test(arguments: ComparatorRow.all)
  func `a missing field does not match`(row: ComparatorRow) {
    #expect(!passes(row, nil))
  }

  @Test(arguments: ComparatorRow.all)
  func `a value of another type does not match`(row: ComparatorRow) {
    // A list without members counts as every type.
    let own = Set((row.matching + row.others).map(ComparatorRow.type))
    let isAboutLists = own.contains("list of anything")
    for values in ComparatorRow.samples {
      for value in values + [.list(values)] where !own.contains(ComparatorRow.type(of: value)) {
        #expect(!passes(row, value), "should not match \(value)")
      }
    }
    if !isAboutLists, row.comparator.operand != .text { #expect(!passes(row, .list([]))) }
    #expect(!passes(row, .list([.string("Reading"), .int64(5)])))
    #expect(!passes(row, .double(.nan)) && !passes(row, .location(latitude: .nan, longitude: 0)))
  }

  @Test func `the rows cover every comparator with every type that it takes`() {
    let rows = Dictionary(grouping: ComparatorRow.all, by: \.comparator)
    for comparator in QueryRule.Comparator.allCases {
      let types = Set(rows[comparator, default: []].map { ComparatorRow.type(of: $0.value) })
      let expected =
        switch comparator.operand {
        case .anything: 16
        case .ordered: 5
        case .string, .location: 1
        case .text: 2
        case .member, .list: 8
        }
      #expect(types.count == expected, "\(comparator.name): \(types)")
    }
  }

  @Test(arguments: QueryRule.Comparator.allCases)
  func `a filter value of NaN matches nothing`(comparator: QueryRule.Comparator) {
    let row = ComparatorRow(
      comparator, .double(.nan), distance: 5, matches: [.double(.nan)], others: [])
    #expect(!passes(row, .double(.nan)) && !passes(row, .double(1)))
    #expect(!passes(row, .list([.double(.nan)])) && !passes(row, .list([.double(1)])))
  }

  @Test func `a reference without a zone means the record's own zone`() {
    let own = ZoneID(name: ComparatorRow.zone.name, owner: UserID(""))
    let spelled: [ZoneID?] = [nil, ComparatorRow.zone, own]
    for left in spelled {
      for right in spelled {
        let row = ComparatorRow(
          .equals, .reference(recordName: "A", zone: left), matches: [.int64(1)], others: [])
        #expect(passes(row, .reference(recordName: "A", zone: right)))
        #expect(!passes(row, .reference(recordName: "A", zone: ComparatorRow.elsewhere)))
      }
    }
  }
}
