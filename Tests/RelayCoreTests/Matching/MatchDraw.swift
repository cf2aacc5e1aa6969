import RelayCore

/// Random predicates and records over few values, so that many of them match.
struct MatchDraw {
  var draw: SeededRandom

  init(seed: UInt64) { draw = SeededRandom(seed: seed) }

  static let zones = [Sample.zone, ZoneID(name: "History", owner: Sample.owner)]
  static let scopes = [
    Sample.scope, Scope(container: Sample.scope.container, environment: .production),
  ]
  private static let kinds: [FieldValue.Kind] = [
    .string, .int64, .double, .bytes, .timestamp, .reference, .location, .asset,
  ]
  private static let names = ["a", "b", "c"]
  /// Two spellings of one text; a text that stands between them in the order of code points; a text
  /// at the end of Unicode's basic plane, and a text beyond that plane.
  private static let spellings = ["\u{e9}t", "e\u{301}t", "f", "\u{ffee}", "\u{1f600}"]

  mutating func value(_ kind: FieldValue.Kind) -> FieldValue {
    switch kind {
    case .string:
      .string(
        draw.pick(["", "ant", "ant hill", "Antler", "Hill 7", "7", "_abc", "A1"] + Self.spellings))
    case .int64: .int64(Int64(draw.below(4)) - 1)
    case .double: .double(Double(draw.below(4)) / 2)
    case .bytes: .bytes(draw.pick([[], [1], [1, 2], [2]]))
    case .timestamp: .timestamp(Instant(milliseconds: Int64(draw.below(4))))
    case .reference:
      .reference(recordName: draw.pick(["A1", "B"]), zone: draw.pick([nil] + Self.zones))
    case .location:
      .location(
        latitude: draw.pick([-90, 0, 48, 48.5, 90]), longitude: draw.pick([-180, -11, 11, 179.5]))
    case .asset: .asset(draw.pick(["s", "t"]))
    case .list: list(.string)
    }
  }

  /// Mostly `.string`, so that filters and records often have the same type.
  private mutating func kind() -> FieldValue.Kind {
    draw.chance(60) ? .string : draw.pick(Self.kinds)
  }

  private mutating func list(_ kind: FieldValue.Kind) -> FieldValue {
    var members: [FieldValue] = []
    for _ in 0..<draw.below(4) { members.append(value(kind)) }
    return .list(members)
  }

  private mutating func anything() -> FieldValue {
    let kind = kind()
    return draw.chance(30) ? list(kind) : value(kind)
  }

  mutating func filter() -> QueryRule.Filter {
    // Equality is frequent, so that the index has something to look up.
    let comparator =
      draw.chance(30) ? .equals : draw.pick(QueryRule.Comparator.allCases)
    let value: FieldValue
    switch comparator.operand {
    case .anything: value = anything()
    case .ordered: value = self.value(draw.pick([.string, .int64, .double, .bytes, .timestamp]))
    case .string: value = self.value(.string)
    case .location: value = self.value(.location)
    case .text: value = draw.chance(70) ? self.value(.string) : list(.string)
    case .member: value = self.value(kind())
    case .list: value = list(kind())
    }
    var field = draw.pick(Self.names)
    if comparator.operand == .text && draw.chance(40) { field = "self" }
    if draw.chance(15) { field = draw.pick(SystemField.allCases).rawValue }
    return QueryRule.Filter(
      field: field, comparator: comparator, value: field == "___recordID" ? value : value.unzoned,
      distance: comparator == .near ? draw.pick([1, 60_000, 3e6, 1.9e7]) : nil)
  }

  mutating func rule() -> QueryRule {
    var firing = QueryRule.Firing(rawValue: UInt8(draw.below(8)))
    if firing.isEmpty || draw.chance(50) { firing = .all }
    var filters: [QueryRule.Filter] = []
    for _ in 0..<draw.pick([0, 1, 1, 1, 2, 3]) { filters.append(filter()) }
    return QueryRule(
      recordType: draw.pick(["Article", "Note"]), filters: filters, firesOn: firing,
      firesOnce: draw.chance(10), zone: draw.chance(20) ? draw.pick(Self.zones) : nil)
  }

  mutating func subscription() -> Subscription {
    let isPublic = draw.chance(60)
    let rule: Subscription.Rule =
      if isPublic || draw.chance(60) {
        .query(rule())
      } else if draw.chance(50) {
        .zone(draw.pick(Self.zones), recordType: draw.chance(30) ? "Note" : nil)
      } else {
        .database(recordType: draw.chance(30) ? "Note" : nil)
      }
    return Subscription(
      id: SubscriptionID("s"), database: isPublic ? .public : .private, rule: rule,
      info: NotificationInfo())
  }

  mutating func change(_ database: Database) -> Change {
    var fields: [Field] = []
    for name in Self.names where draw.chance(70) {
      fields.append(Field(name: name, value: anything()))
    }
    for system in [SystemField.createdTimestamp, .modifiedTimestamp] where draw.chance(40) {
      fields.append(Field(name: system.rawValue, value: value(.timestamp)))
    }
    for system in [SystemField.createdUserRecordName, .modifiedUserRecordName]
    where draw.chance(40) {
      fields.append(Field(name: system.rawValue, value: .string(draw.pick(["_abc", "A1", "B"]))))
    }
    let record = RecordChange(
      verb: draw.pick([.created, .updated, .deleted]), name: draw.pick(["A1", "B"]),
      type: draw.pick(["Article", "Note"]), tag: draw.pick([nil, "7"]), fields: fields)
    return Change(
      scope: draw.pick(Self.scopes), database: database,
      zone: database == .public ? .publicDefault : draw.pick(Self.zones), event: .record(record),
      time: .zero, notification: Sample.nid(1), fingerprint: 1)
  }
}

extension FieldValue {
  /// A filter's reference loses its zone unless that zone is `Sample.zone`. `FilterReader` also
  /// removes the zones from references to users.
  fileprivate var unzoned: FieldValue {
    switch self {
    case .reference(let name, let zone?) where zone != Sample.zone:
      .reference(recordName: name, zone: nil)
    default: self
    }
  }
}
