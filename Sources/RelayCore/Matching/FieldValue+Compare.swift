/// How values compare. Texts compare by their code points. A result of `nil` means that two values
/// are not comparable: they have different types, or one is NaN.
extension FieldValue {
  /// Equality of two values of one type.
  ///
  /// - Parameter zone: the record's own zone, which a reference without a zone points into.
  func isEqual(to other: FieldValue, in zone: ZoneID) -> Bool {
    guard case .reference(let name, let named) = self,
      case .reference(let otherName, let otherNamed) = other
    else { return self == other }
    return ByteOrdered.areSame(name, otherName)
      && Self.target(named, from: zone) == Self.target(otherNamed, from: zone)
  }

  /// The value with a reference's zone filled in, so that values that filters
  /// treat as equal become equal.
  func resolved(in zone: ZoneID) -> FieldValue {
    guard case .reference(let name, let named) = self else { return self }
    return .reference(recordName: name, zone: Self.target(named, from: zone))
  }

  /// The zone that a reference points into. A reference without a zone points into the record's own
  /// zone; a zone without an owner belongs to the owner of the record's zone.
  private static func target(_ named: ZoneID?, from zone: ZoneID) -> ZoneID {
    guard let named else { return zone }
    return named.owner.name.isEmpty ? ZoneID(name: named.name, owner: zone.owner) : named
  }

  func precedes(_ other: FieldValue) -> Bool? {
    switch (self, other) {
    case (.string(let left), .string(let right)): ByteOrdered.precedes(left, right)
    case (.int64(let left), .int64(let right)): left < right
    case (.timestamp(let left), .timestamp(let right)): left < right
    case (.double(let left), .double(let right)):
      left.isNaN || right.isNaN ? nil : left < right
    case (.bytes(let left), .bytes(let right)):
      left.withUnsafeBytes { left in right.withUnsafeBytes { ByteOrdered.precedes(left, $0) } }
    default: nil
    }
  }

  /// Whether the value is a text that begins with `start`.
  func begins(with start: String) -> Bool {
    text.map { ByteOrdered.begins($0, with: start) } ?? false
  }

  func isNear(_ other: FieldValue, distance: Double?) -> Bool? {
    guard case .location(let latitude, let longitude) = self,
      case .location(let otherLatitude, let otherLongitude) = other, let distance,
      !hasNaN, !other.hasNaN
    else { return nil }
    return GeoDistance.isNear(
      (latitude, longitude), (otherLatitude, otherLongitude), distance: distance)
  }

  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  var members: [FieldValue]? {
    guard case .list(let members) = self else { return nil }
    return members
  }
}

extension FieldValue {
  /// Compares texts byte by byte. Swift's `==` for texts would treat two Unicode spellings of a
  /// text as equal, and can take long.
  package static func == (left: FieldValue, right: FieldValue) -> Bool {
    switch (left, right) {
    case (.string(let left), .string(let right)): ByteOrdered.areSame(left, right)
    case (.int64(let left), .int64(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.bytes(let left), .bytes(let right)): left == right
    case (.timestamp(let left), .timestamp(let right)): left == right
    case (.reference(let left, let leftZone), .reference(let right, let rightZone)):
      ByteOrdered.areSame(left, right) && leftZone == rightZone
    case (.location(let latitude, let longitude), .location(let other, let otherLongitude)):
      latitude == other && longitude == otherLongitude
    case (.asset(let left), .asset(let right)): ByteOrdered.areSame(left, right)
    case (.list(let left), .list(let right)): left == right
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    switch self {
    case .string(let text), .asset(let text), .reference(let text, _):
      var text = text
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .int64(let number): hasher.combine(number)
    case .double(let number): hasher.combine(number)
    case .bytes(let bytes): hasher.combine(bytes)
    case .timestamp(let instant): hasher.combine(instant)
    case .location(let latitude, let longitude):
      hasher.combine(latitude)
      hasher.combine(longitude)
    case .list(let members): hasher.combine(members)
    }
  }
}
