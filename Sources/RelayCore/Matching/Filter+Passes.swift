extension QueryRule.Filter {
  /// Whether a record passes. What does not go together (a missing field, another type, NaN) does
  /// not pass, for negative comparators neither.
  func passes(_ reading: inout ChangeReading) -> Bool {
    if comparator.operand == .text { return finds(reading.words(of: field)) }
    guard let found = reading.value(of: field, for: value),
      let holds = holds(found, in: reading.change.zone)
    else { return false }
    return holds != comparator.isNegative
  }

  private func finds(_ found: Set<String>?) -> Bool {
    guard let found, !words.isEmpty else { return false }
    return comparator == .containsAllTokens
      ? words.allSatisfy(found.contains) : words.contains(where: found.contains)
  }

  /// What the comparator says, its negation aside; nil: the types do not go together.
  private func holds(_ found: FieldValue, in zone: ZoneID) -> Bool? {
    switch comparator {
    case .equals, .notEquals: found.isEqual(to: value, in: zone)
    case .lessThan: found.precedes(value)
    case .lessThanOrEquals: value.precedes(found).map { !$0 }
    case .greaterThan: value.precedes(found)
    case .greaterThanOrEquals: found.precedes(value).map { !$0 }
    case .near: found.isNear(value, distance: distance)
    case .containsAllTokens, .containsAnyTokens: nil
    case .in, .notIn: found.isMember(of: value, in: zone)
    case .beginsWith, .notBeginsWith: found.begins(with: value)
    case .listContains, .notListContains: value.isMember(of: found, in: zone)
    case .listContainsAll, .notListContainsAll: contains(found, in: zone, all: true)
    case .listContainsAny, .notListContainsAny: contains(found, in: zone, all: false)
    case .listMemberBeginsWith, .notListMemberBeginsWith: hasMember(found, beginningWith: value)
    }
  }

  private func hasMember(_ found: FieldValue, beginningWith start: FieldValue) -> Bool? {
    guard start.kind == .string, let members = found.members(of: .string) else { return nil }
    return members.contains { $0.begins(with: start) == true }
  }

  private func contains(_ found: FieldValue, in zone: ZoneID, all: Bool) -> Bool? {
    guard case .list(let wanted) = value, case .list(let members) = found else { return nil }
    if let kind = wanted.first?.kind ?? members.first?.kind {
      guard value.members(of: kind) != nil, found.members(of: kind) != nil else { return nil }
    }
    let isThere = { (one: FieldValue) in one.isMember(of: found, in: zone) == true }
    return all ? wanted.allSatisfy(isThere) : wanted.contains(where: isThere)
  }
}
