/// Public query subscriptions to one record type, indexed by a value that a record must have to
/// fire them: the value of an equality filter, a member of a list, or one of several values.
/// Subscriptions without such a filter are in `rest`, and are examined for every change of the
/// type.
struct Postings: Sendable {
  private var anchored: [Anchor.Place: [FieldValue: PostingList]] = [:]
  private var rest = PostingList()

  var isEmpty: Bool { rest.isEmpty && anchored.isEmpty }

  mutating func insert(_ item: PostingList.Item, _ rule: QueryRule) {
    guard let anchor = Anchor(rule) else { return rest.insert(item) }
    for value in anchor.values {
      anchored[anchor.place, default: [:]][value, default: PostingList()].insert(item)
    }
  }

  mutating func remove(_ serial: Position, _ rule: QueryRule) {
    guard let anchor = Anchor(rule) else { return rest.remove(serial) }
    for value in anchor.values {
      anchored[anchor.place]?[value]?.remove(serial)
      if anchored[anchor.place]?[value]?.isEmpty == true { anchored[anchor.place]?[value] = nil }
    }
    if anchored[anchor.place]?.isEmpty == true { anchored[anchor.place] = nil }
  }

  /// Lists that together hold every subscription that this record may fire. A subscription may be
  /// in several of them. The order of the lists does not matter, because they are merged by serial.
  func lists(for reading: inout ChangeReading) -> [PostingList] {
    var found = rest.isEmpty ? [] : [rest]
    guard !anchored.isEmpty, let record = reading.record else { return found }
    if anchored.count < record.fields.count {
      for place in anchored.keys {
        if let field = record.fields.place(of: place.field) { find(place, field, &reading, &found) }
      }
    } else {
      for field in record.fields.indices {
        let name = record.fields[field].name
        find(Anchor.Place(field: name, isMember: false), field, &reading, &found)
        find(Anchor.Place(field: name, isMember: true), field, &reading, &found)
      }
    }
    find(SystemField.recordName, record.name, &found)
    if let tag = record.tag { find(SystemField.changeTag, tag, &found) }
    return found
  }

  private func find(_ field: SystemField, _ name: String, _ found: inout [PostingList]) {
    let place = Anchor.Place(field: field.rawValue, isMember: false)
    if let list = anchored[place]?[.string(name)] { found.append(list) }
  }

  /// - Parameter field: the field's index in the record.
  private func find(
    _ place: Anchor.Place, _ field: Int, _ reading: inout ChangeReading,
    _ found: inout [PostingList]
  ) {
    guard let lists = anchored[place], let record = reading.record else { return }
    guard place.isMember else {
      if let list = lists[record.fields[field].value.anchor] { found.append(list) }
      return
    }
    reading.look(intoListAt: field) { list in
      // A list of mixed types or with NaN fires none of the subscriptions.
      guard list.kind != nil else { return }
      guard lists.count >= list.members.count else {
        for (anchor, held) in lists where list.hasMember(indexedAs: anchor) { found.append(held) }
        return
      }
      // A list may have a member many times. `seen` keeps only values for which the index has a
      // list.
      var seen: Set<FieldValue> = []
      for anchor in list.anchors() {
        if let held = lists[anchor], seen.insert(anchor).inserted { found.append(held) }
      }
    }
  }
}

/// A value that a record must have for a subscription to fire, if an index can look it up.
struct Anchor {
  struct Place: Hashable, Sendable {
    let field: String
    /// Whether the value is a member of the field's list; `false` means that it is the field's own
    /// value.
    let isMember: Bool

    static func == (left: Place, right: Place) -> Bool {
      left.isMember == right.isMember && ByteOrdered.areSame(left.field, right.field)
    }
  }

  let place: Place
  /// The record must have one of these values.
  let values: [FieldValue]

  /// The most values under which a subscription is listed. With more values, it is cheaper to
  /// examine the subscription for every record of the type.
  private static let valuesMax = 16

  /// The result is `nil` if no filter requires a value that an index can look up. The subscription
  /// is then examined for every record of the type.
  init?(_ rule: QueryRule) {
    var best: Anchor?
    for filter in rule.filters {
      guard let found = Anchor(filter), found.values.count < best?.values.count ?? .max else {
        continue
      }
      best = found
    }
    guard let best else { return nil }
    self = best
  }

  private init?(_ filter: QueryRule.Filter) {
    // NaN is equal to no value, also as a dictionary key; such a filter never passes anyway.
    guard !filter.value.hasNaN else { return nil }
    var values = [filter.value]
    switch filter.comparator {
    case .equals: break
    case .listContains: break
    case .listContainsAll:
      guard case .list(let members) = filter.value, let first = members.first else { return nil }
      values = [first]
    case .in, .listContainsAny:
      guard case .list(let members) = filter.value, members.count <= Self.valuesMax else {
        return nil
      }
      values = members
    default: return nil
    }
    let isMember = filter.comparator != .equals && filter.comparator != .in
    place = Place(field: filter.field, isMember: isMember)
    // The values keep the order of the filter, and each is kept once, so that a subscription is in
    // a list only once.
    var seen: Set<FieldValue> = []
    let isSystem = filter.systemField != nil
    self.values = values.map { isSystem ? $0.anchor.nameOnly : $0.anchor }
      .filter { seen.insert($0).inserted }
  }
}

extension FieldValue {
  /// A form that is equal for all values that filters treat as equal: a reference's zone is left
  /// out.
  var anchor: FieldValue {
    switch self {
    case .reference(let name, _): .reference(recordName: name, zone: nil)
    case .list(let members): .list(members.map(\.anchor))
    default: self
    }
  }

  /// Record and user names are indexed as strings, but a filter may name a reference.
  fileprivate var nameOnly: FieldValue {
    guard case .reference(let name, _) = self else { return self }
    return .string(name)
  }
}
