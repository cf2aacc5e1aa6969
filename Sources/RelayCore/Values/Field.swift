/// A field of a record, as a producer reports it. Serves predicates and the values that a matched
/// subscription names; nothing else of it is kept.
///
/// A name that begins with an underscore is a system field's (`SystemField`): the doors refuse such
/// names in what a producer calls fields.
package struct Field: Hashable, Sendable {
  package var name: String
  package var value: FieldValue

  package init(name: String, value: FieldValue) {
    self.name = name
    self.value = value
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
