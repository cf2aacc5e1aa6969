/// A field of a record, as a producer reports it. The relay uses fields for filters and for the
/// values that a matched subscription names; the relay keeps nothing else of the field.
///
/// A name that begins with an underscore belongs to a system field (`SystemField`). The HTTP layer
/// refuses such names among a producer's fields.
package struct Field: Hashable, Sendable {
  package var name: String
  package var value: FieldValue

  package init(name: String, value: FieldValue) {
    self.name = name
    self.value = value
  }

  package static func == (left: Field, right: Field) -> Bool {
    ByteOrdered.areSame(left.name, right.name) && left.value == right.value
  }

  /// The fields in order of name, so that a field is found without examining all of them. If a
  /// producer names a field twice, the first one counts.
  static func inOrder(_ fields: [Field]) -> [Field] {
    let isInOrder = zip(fields, fields.dropFirst()).allSatisfy {
      ByteOrdered.precedes($0.name, $1.name)
    }
    guard !isInOrder else { return fields }
    let places = fields.indices.sorted { left, right in
      let (one, other) = (fields[left].name, fields[right].name)
      return ByteOrdered.areSame(one, other) ? left < right : ByteOrdered.precedes(one, other)
    }
    var ordered: [Field] = []
    for place in places {
      if let last = ordered.last, ByteOrdered.areSame(last.name, fields[place].name) { continue }
      ordered.append(fields[place])
    }
    return ordered
  }
}

extension [Field] {
  /// The index of the field with this name; the fields must be in order.
  func place(of name: String) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if ByteOrdered.precedes(self[middle].name, name) { low = middle + 1 } else { high = middle }
    }
    return low < count && ByteOrdered.areSame(self[low].name, name) ? low : nil
  }
}

/// CloudKit's field types, and lists of them.
package enum FieldValue: Hashable, Sendable {
  case string(String)
  case int64(Int64)
  case double(Double)
  case bytes([UInt8])
  case timestamp(Instant)
  case reference(recordName: String, zone: ZoneID?)
  case location(latitude: Double, longitude: Double)
  case asset(String)
  indirect case list([FieldValue])
}
