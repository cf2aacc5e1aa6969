import RelayCore
import RelayWire

/// Reads the filters of a query. Each filter that the reader returns has a value that suits its
/// comparator and its system field. The reader refuses any other filter, which could never match,
/// with an error that names the wrong member.
struct FilterReader {
  let limits: HTTPLimits

  func filters(of query: JSONCursor) throws(JSONProblem) -> [QueryRule.Filter] {
    guard let list = query.optional("filterBy") else { return [] }
    let items = try list.elements()
    guard items.count <= limits.subscriptionListItems else {
      throw list.problem("has more than \(limits.subscriptionListItems) filters")
    }
    var filters: [QueryRule.Filter] = []
    for item in items { filters.append(try filter(item)) }
    return filters
  }

  private func filter(_ item: JSONCursor) throws(JSONProblem) -> QueryRule.Filter {
    try item.object().refuseOtherSpellings(of: KnownMembers.filter)
    let named = try item.required("comparator")
    guard let comparator = QueryRule.Comparator(name: try named.string()) else {
      let known = QueryRule.Comparator.allCases.map(\.name).joined(separator: ", ")
      throw named.problem("is unknown; known are \(known)")
    }
    let operand = try item.required("fieldValue")
    let field: String
    let value: FieldValue
    if let name = item.optional("systemFieldName") {
      let system = try self.system(name, beside: item)
      field = system.rawValue
      value = try self.value(operand, of: system, comparator)
      guard comparator.suits(system) else {
        throw named.problem("does not go with \(system.webName)")
      }
    } else {
      field = try self.field(of: item, comparator)
      value = try self.value(operand, comparator)
    }
    try check(value, of: operand, for: comparator)
    return QueryRule.Filter(
      field: field, comparator: comparator, value: value,
      distance: try distance(of: item, comparator))
  }

  private func field(
    of item: JSONCursor, _ comparator: QueryRule.Comparator
  ) throws(JSONProblem) -> String {
    // A search for words (`CONTAINS_ALL_TOKENS` or `CONTAINS_ANY_TOKENS`) that names no field
    // searches the whole record.
    guard let named = item.optional("fieldName") else {
      guard comparator.operand == .text else { throw item.missing("fieldName") }
      return QueryRule.Filter.wholeRecord
    }
    let name = try Name.read(named, limits)
    if let system = SystemField(name) {
      throw named.problem("is a system field; ask for it as systemFieldName \(system.webName)")
    }
    guard name.utf8.first != UInt8(ascii: "_") else {
      throw named.problem("must not begin with an underscore: no field of a record does")
    }
    guard name != QueryRule.Filter.wholeRecord || comparator.operand == .text else {
      throw named.problem("self goes with CONTAINS_ALL_TOKENS and CONTAINS_ANY_TOKENS only")
    }
    return name
  }

  private func system(
    _ named: JSONCursor, beside item: JSONCursor
  ) throws(JSONProblem) -> SystemField {
    if let field = item.optional("fieldName") {
      throw field.problem("must not stand beside systemFieldName: a filter is about one field")
    }
    let name = try named.string()
    for system in SystemField.allCases
    where ByteOrdered.areSame(system.webName, name) || ByteOrdered.areSame(system.rawValue, name) {
      return system
    }
    let known = SystemField.allCases.map(\.webName).joined(separator: ", ")
    throw named.problem("is unknown; known are \(known)")
  }

  private func value(
    _ operand: JSONCursor, _ comparator: QueryRule.Comparator
  ) throws(JSONProblem) -> FieldValue {
    if let list = try operand.object().optional("value"), list.isArray,
      try list.elements().count > limits.filterValues
    {
      throw list.problem("has more than \(limits.filterValues) values")
    }
    let found =
      comparator.operand == .list
      ? try FieldReader.list(of: operand) : try FieldReader.value(of: operand)
    guard let found else { throw operand.missing("value") }
    guard Set((found.members ?? []).map(\.kind)).count <= 1 else {
      throw operand.problem("must have values of one type: no list of several passes a filter")
    }
    return found
  }

  /// Reads the value of a filter on a system field. A date without a type looks like a number, so a
  /// number is read as a date if the field is a date.
  private func value(
    _ operand: JSONCursor, of system: SystemField, _ comparator: QueryRule.Comparator
  ) throws(JSONProblem) -> FieldValue {
    var found = try value(operand, comparator)
    if operand.optional("type") == nil, system.kinds == [.timestamp] { found = found.asTimestamps }
    let kinds = found.members?.map(\.kind) ?? [found.kind]
    guard kinds.allSatisfy(system.kinds.contains) else {
      let known = system.kinds.map(FieldText.name(of:)).joined(separator: " or ")
      throw operand.problem("must be of type \(known) for \(system.webName)")
    }
    return system == .recordName ? found : found.withoutZones
  }

  private func check(
    _ value: FieldValue, of operand: JSONCursor, for comparator: QueryRule.Comparator
  ) throws(JSONProblem) {
    guard FieldText.textBytes(value) <= limits.subscriptionTextBytes else {
      throw operand.problem("has more than \(limits.subscriptionTextBytes) bytes")
    }
    if let wanted = comparator.complaint(about: value) {
      throw operand.problem("must be \(wanted) for \(comparator.name)")
    }
    guard comparator.operand == .location, case .location(let latitude, let longitude) = value
    else { return }
    guard abs(latitude) <= 90, abs(longitude) <= 180 else {
      throw operand.problem("must have a latitude of ±90 and a longitude of ±180 degrees at most")
    }
  }

  private func distance(
    of item: JSONCursor, _ comparator: QueryRule.Comparator
  ) throws(JSONProblem) -> Double? {
    guard comparator == .near else {
      if let named = item.optional("distance") { throw named.problem("goes with NEAR only") }
      return nil
    }
    guard let named = item.optional("distance") else { throw item.missing("distance") }
    let distance = try named.double()
    guard distance > 0 else { throw named.problem("must be above 0 metres") }
    return distance
  }
}

extension QueryRule.Comparator {
  /// What a value must be for this comparator; `nil` means that `value` suits the comparator.
  fileprivate func complaint(about value: FieldValue) -> String? {
    switch operand {
    case .anything: nil
    case .ordered: value.kind.isOrdered ? nil : "of type STRING, INT64, DOUBLE, TIMESTAMP or BYTES"
    case .string: value.kind == .string ? nil : "of type STRING"
    case .location: value.kind == .location ? nil : "of type LOCATION"
    case .text where !value.isText: "of type STRING or STRING_LIST"
    // A run of letters and digits of more than 255 bytes is no word. So a text with only such runs
    // gets the same error as a text without letters and digits.
    case .text: value.hasWords ? nil : "a text with a letter or a digit"
    case .member: value.kind == .list ? "one value, not a list" : nil
    case .list: value.kind == .list ? nil : "a list"
    }
  }

  /// True if the comparator suits the system field, which is never a list, a location or a text to
  /// search.
  fileprivate func suits(_ system: SystemField) -> Bool {
    switch operand {
    case .anything, .ordered: true
    case .string: (self == .beginsWith || self == .notBeginsWith) && system.kinds != [.timestamp]
    case .list: self == .in || self == .notIn
    case .location, .text, .member: false
    }
  }
}

extension FieldValue {
  fileprivate var members: [FieldValue]? {
    guard case .list(let members) = self else { return nil }
    return members
  }

  fileprivate var isText: Bool {
    kind == .string || members?.allSatisfy { $0.kind == .string } == true
  }

  fileprivate var asTimestamps: FieldValue {
    switch self {
    case .int64(let number): .timestamp(Instant(milliseconds: number))
    case .list(let members): .list(members.map(\.asTimestamps))
    default: self
    }
  }

  /// Removes the zones from references to users, because a user's record name alone identifies the
  /// user.
  fileprivate var withoutZones: FieldValue {
    switch self {
    case .reference(let name, _): .reference(recordName: name, zone: nil)
    case .list(let members): .list(members.map(\.withoutZones))
    default: self
    }
  }
}
