/// How values compare. Nil everywhere: they do not go together, being of two types or NaN.
extension FieldValue {
  /// - Parameter zone: what a reference without a zone points into: the record's own.
  func isEqual(to other: FieldValue, in zone: ZoneID) -> Bool? {
    guard kind == other.kind, !hasNaN, !other.hasNaN else { return nil }
    guard case .list(let members) = self, case .list(let others) = other else {
      return isSame(as: other, in: zone)
    }
    guard let kind = members.first?.kind ?? others.first?.kind else { return true }
    guard self.members(of: kind) != nil, other.members(of: kind) != nil else { return nil }
    guard members.count == others.count else { return false }
    return zip(members, others).allSatisfy { $0.isEqual(to: $1, in: zone) == true }
  }

  /// Equality of two single values of one type.
  private func isSame(as other: FieldValue, in zone: ZoneID) -> Bool {
    guard case .reference(let name, let named) = self,
      case .reference(let otherName, let otherNamed) = other
    else { return self == other }
    return name == otherName
      && Self.target(named, from: zone) == Self.target(otherNamed, from: zone)
  }

  /// A zone left out is the record's own; an owner left out is its zone's.
  private static func target(_ named: ZoneID?, from zone: ZoneID) -> ZoneID {
    guard let named else { return zone }
    return named.owner.name.isEmpty ? ZoneID(name: named.name, owner: zone.owner) : named
  }

  func precedes(_ other: FieldValue) -> Bool? {
    switch (self, other) {
    case (.string(let left), .string(let right)): left < right
    case (.int64(let left), .int64(let right)): left < right
    case (.timestamp(let left), .timestamp(let right)): left < right
    case (.double(let left), .double(let right)):
      left.isNaN || right.isNaN ? nil : left < right
    case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
    default: nil
    }
  }

  func begins(with other: FieldValue) -> Bool? {
    guard case .string(let text) = self, case .string(let start) = other else { return nil }
    return text.hasPrefix(start)
  }

  func isNear(_ other: FieldValue, distance: Double?) -> Bool? {
    guard case .location(let latitude, let longitude) = self,
      case .location(let otherLatitude, let otherLongitude) = other, let distance,
      !hasNaN, !other.hasNaN
    else { return nil }
    return Sphere.isNear(
      (latitude, longitude), (otherLatitude, otherLongitude), distance: distance)
  }

  /// Whether this is a member of a list of its type.
  func isMember(of list: FieldValue, in zone: ZoneID) -> Bool? {
    guard kind != .list, !hasNaN, let members = list.members(of: kind) else { return nil }
    return members.contains { $0.isEqual(to: self, in: zone) == true }
  }

  /// This list's members, if they are of one type, and that one; an empty list is of any type.
  func members(of kind: Kind) -> [FieldValue]? {
    guard case .list(let members) = self, members.allSatisfy({ $0.kind == kind }) else {
      return nil
    }
    return members
  }
}
