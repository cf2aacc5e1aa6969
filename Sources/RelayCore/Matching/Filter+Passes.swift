extension QueryRule.Filter {
  /// Whether a record passes. A record whose field is missing, of another type or NaN does not
  /// pass, not even with a negative comparator.
  func passes(_ reading: inout ChangeReading) -> Bool {
    reading.spend(1)
    if comparator.operand == .text { return finds(&reading) }
    guard let holds = holds(&reading) else { return false }
    return holds != comparator.isNegative
  }

  private func finds(_ reading: inout ChangeReading) -> Bool {
    guard let found = reading.words(of: field), !words.isEmpty else { return false }
    var looked = 0
    defer { reading.spend(looked) }
    let isAll = comparator == .containsAllTokens
    for word in words {
      looked += 1
      if found.contains(word) != isAll { return !isAll }
    }
    return isAll
  }

  /// The comparator's result without its negation; `nil` means that the types are not comparable.
  private func holds(_ reading: inout ChangeReading) -> Bool? {
    guard let found = reading.field(field, for: self) else { return nil }
    switch comparator {
    case .equals, .notEquals: return isEqual(found, &reading)
    case .lessThan: return found.value.precedes(value)
    case .lessThanOrEquals: return value.precedes(found.value).map { !$0 }
    case .greaterThan: return value.precedes(found.value)
    case .greaterThanOrEquals: return found.value.precedes(value).map { !$0 }
    case .near: return found.value.isNear(value, distance: distance)
    case .containsAllTokens, .containsAnyTokens: return nil
    case .in, .notIn: return isOne(found, &reading)
    case .beginsWith, .notBeginsWith:
      guard let start = value.text, found.value.text != nil else { return nil }
      return found.value.begins(with: start)
    case .listContains, .notListContains:
      let kind = value.kind == .list ? nil : MemberKind.only(value.kind)
      return reading.look(into: found, for: kind, isSane) { $0.contains(value) }
    case .listContainsAll, .notListContainsAll: return contains(found, all: true, &reading)
    case .listContainsAny, .notListContainsAny: return contains(found, all: false, &reading)
    case .listMemberBeginsWith, .notListMemberBeginsWith:
      guard let start = value.text else { return nil }
      return reading.look(into: found, for: .only(.string), true) {
        $0.hasMember(beginningWith: start)
      }
    }
  }

  private func isEqual(_ found: ChangeReading.Found, _ reading: inout ChangeReading) -> Bool? {
    guard isSane, found.value.kind == value.kind else { return nil }
    let zone = reading.change.zone
    guard let others = value.members else {
      return found.value.hasNaN ? nil : found.value.isEqual(to: value, in: zone)
    }
    reading.spend(others.count)
    return reading.look(into: found, for: members, isSane) { list in
      list.members.count == others.count
        && zip(list.members, others).allSatisfy { $0.isEqual(to: $1, in: zone) }
    }
  }

  private func isOne(_ found: ChangeReading.Found, _ reading: inout ChangeReading) -> Bool? {
    guard let choices = value.members, let members, found.value.kind != .list,
      !found.value.hasNaN, members.goes(with: .only(found.value.kind))
    else { return nil }
    reading.spend(choices.count)
    let zone = reading.change.zone
    return choices.contains { $0.isEqual(to: found.value, in: zone) }
  }

  private func contains(
    _ found: ChangeReading.Found, all: Bool, _ reading: inout ChangeReading
  ) -> Bool? {
    guard let wanted = value.members else { return nil }
    return reading.look(into: found, for: members, isSane) { list in
      all ? wanted.allSatisfy(list.contains) : wanted.contains(where: list.contains)
    }
  }
}
