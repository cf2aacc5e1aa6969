/// How many of a partition's subscriptions to one record type name each field. So the interest in a
/// field ends with the last subscription that names it.
struct OwnInterest: Sendable {
  /// How many subscriptions the partition has to the record type.
  private(set) var count = 0
  private var names: [String: Int] = [:]
  /// How many subscriptions search the whole record.
  private var searches = 0
  /// The fields that this partition last sent to the homes.
  var told = Interest.Fields.ended

  mutating func add(_ subscription: Subscription) { change(subscription, by: 1) }
  mutating func remove(_ subscription: Subscription) { change(subscription, by: -1) }

  private mutating func change(_ subscription: Subscription, by step: Int) {
    count += step
    let looks = subscription.fieldsRead
    if looks.isWhole { searches += step }
    for name in looks.names {
      let left = names[name, default: 0] + step
      names[name] = left == 0 ? nil : left
    }
  }

  var fields: Interest.Fields {
    guard count > 0 else { return .ended }
    guard searches == 0, names.count <= Interest.namesMax else { return .all }
    let sorted = names.keys.sorted { ByteOrdered.precedes($0, $1) }
    guard sorted.reduce(0, { $0 + $1.utf8.count }) <= Interest.nameBytesMax else { return .all }
    return .named(sorted)
  }
}

extension Interest.Fields {
  /// Whether `other` is contained in this set of fields.
  func covers(_ other: Interest.Fields) -> Bool {
    switch (self, other) {
    case (_, .ended), (.all, _): true
    case (.ended, _), (_, .all): false
    case (.named(let own), .named(let names)): Set(own).isSuperset(of: names)
    }
  }
}

extension Subscription {
  /// The fields that the subscription reads, to match or to show. `isWhole` means that the
  /// subscription reads the whole record.
  fileprivate var fieldsRead: (names: Set<String>, isWhole: Bool) {
    guard case .query(let rule) = rule else { return ([], false) }
    var all = info.desiredKeys + info.alert.arguments.joined()
    if let key = info.collapseKey { all.append(key) }
    for filter in rule.filters { all.append(filter.field) }
    // Swift's sets use canonical equivalence and would merge two spellings of a name. CloudKit's
    // names are ASCII; for other names the whole record is sent.
    let isASCII = all.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
    var names = Set(all)
    let isWhole = names.remove(QueryRule.Filter.wholeRecord) != nil
    return (names, isWhole || !isASCII)
  }

  /// The key of the changes that other partitions must send for the subscription. `nil` means that
  /// the changes arrive in the subscription's own partition, or that the subscription reads no
  /// values.
  func interest(in scope: Scope) -> Interest.Key? {
    guard case .query(let rule) = rule, database != .private else { return nil }
    return Interest.Key(scope: scope, database: database, recordType: rule.recordType)
  }
}
