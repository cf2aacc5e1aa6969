/// A change prepared for matching. Work whose cost grows with the length of a field (finding the
/// words of its texts, making the set of a list's members) is done once for all filters, and only
/// when the first filter needs the result.
struct ChangeReading {
  let change: Change
  /// The changed record; `nil` means that the change is about a zone or a participant.
  let record: RecordChange?
  /// The cost of comparisons so far: one for each subscription, filter, member and word examined. A
  /// fan-out ends a slice when this cost reaches a bound.
  private(set) var work = 0
  /// The cost of reading the record's lists and texts so far; the record's size bounds this cost.
  private(set) var read = 0
  /// The lists prepared so far, by the index of their field in the record.
  private var lists: [Int: ListReading] = [:]
  private var words: [Int: Set<SearchWords.Word>?] = [:]

  init(_ change: Change) {
    self.change = change
    if case .record(let record) = change.event { self.record = record } else { record = nil }
  }

  /// The value of a field, and the field's index in the record; a system field has no index.
  struct Found {
    let value: FieldValue
    let place: Int?
  }

  mutating func spend(_ operations: Int) { work += operations }

  /// The value of the field; `nil` means that the record has no such field.
  ///
  /// - Parameter filter: the filter's value decides whether record and user names are strings or
  ///   references.
  func field(_ name: String, for filter: QueryRule.Filter) -> Found? {
    guard let record else { return nil }
    guard let system = filter.systemField else {
      return record.fields.place(of: name).map {
        Found(value: record.fields[$0].value, place: $0)
      }
    }
    let found: FieldValue? =
      switch system {
      case .recordName: .string(record.name)
      case .changeTag: record.tag.map { .string($0) }
      default: record.value(of: name)
      }
    guard let found else { return nil }
    guard case .string(let name) = found, filter.asksForReference else {
      return Found(value: found, place: nil)
    }
    return Found(value: .reference(recordName: name, zone: nil), place: nil)
  }

  /// Passes the field's list to `body`. The result is `nil` if the value is no list, or if the
  /// list's members have another type than `kind`.
  ///
  /// - Parameters:
  ///   - kind: the type that the filter searches for; `nil` means values of several types.
  ///   - isSane: whether the filter's value has no NaN.
  mutating func look(
    into found: Found, for kind: MemberKind?, _ isSane: Bool, _ body: (ListReading) -> Bool
  ) -> Bool? {
    guard isSane, let kind, let place = found.place, let list = list(found.value, at: place),
      let own = list.kind, own.goes(with: kind)
    else { return nil }
    return look(into: list, body)
  }

  /// Passes the field at this index to `body` if it is a list.
  mutating func look(intoListAt place: Int, _ body: (ListReading) -> Void) {
    guard let record, let list = list(record.fields[place].value, at: place) else { return }
    look(into: list, body)
  }

  private mutating func look<Answer>(
    into list: ListReading, _ body: (ListReading) -> Answer
  ) -> Answer {
    let before = (work: list.work, read: list.read)
    defer {
      work += list.work - before.work
      read += list.read - before.read
    }
    return body(list)
  }

  private mutating func list(_ value: FieldValue, at place: Int) -> ListReading? {
    if let known = lists[place] { return known }
    guard let members = value.members else { return nil }
    let list = ListReading(members, in: change.zone)
    lists[place] = list
    read += members.count
    return list
  }

  /// The words of a field that is a text or a list of texts; `self` means all texts of the record.
  /// The result is `nil` if there is no text.
  mutating func words(of field: String) -> Set<SearchWords.Word>? {
    guard let record else { return nil }
    let isWhole = field == QueryRule.Filter.wholeRecord
    guard let place = isWhole ? -1 : record.fields.place(of: field) else { return nil }
    if let known = words[place] { return known }
    var found: Set<SearchWords.Word> = []
    var isText = false
    for field in isWhole ? record.fields[...] : record.fields[place...place]
    where SystemField(field.name) == nil {
      if addWords(of: field.value, to: &found) { isText = true }
    }
    words[place] = .some(isText ? found : nil)
    return isText ? found : nil
  }

  /// - Returns: false if the value is neither a text nor a list of texts.
  private mutating func addWords(
    of value: FieldValue, to words: inout Set<SearchWords.Word>
  ) -> Bool {
    if let text = value.text {
      read += 1 + text.utf8.count
      SearchWords.add(text, to: &words)
      return true
    }
    guard let members = value.members else { return false }
    read += members.count
    guard members.allSatisfy({ $0.kind == .string }) else { return false }
    for case .string(let text) in members {
      read += text.utf8.count
      SearchWords.add(text, to: &words)
    }
    return true
  }
}
