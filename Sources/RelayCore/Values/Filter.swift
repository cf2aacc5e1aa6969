extension QueryRule {
  /// One condition of a query subscription. A record whose field is missing or has another type
  /// passes no comparator, and NaN never passes.
  ///
  /// A filter is immutable, so that values computed from it stay valid. The HTTP layer refuses a
  /// value that its comparator cannot use (`Comparator.operand`); such a filter would never pass.
  package struct Filter: Hashable, Sendable {
    /// The name of a record's field, or the native name of a system field (`SystemField`). In a
    /// token search the name `self` means all texts of the record.
    package let field: String
    package let comparator: Comparator
    package let value: FieldValue
    /// The distance in metres; only the comparator `near` uses it.
    package let distance: Double?
    /// The words that a token search looks for.
    let words: [SearchWords.Word]
    /// The type of a list's members; `nil` means that the value is no list, or that its members
    /// differ in type.
    let members: MemberKind?
    /// Whether the value has no NaN. With NaN in the value, no record passes.
    let isSane: Bool

    package init(
      field: String, comparator: Comparator, value: FieldValue, distance: Double? = nil
    ) {
      self.field = field
      self.comparator = comparator
      self.value = value
      self.distance = distance
      words = comparator.operand == .text ? SearchWords.ofAll(in: value) : []
      members = value.members.flatMap { MemberKind($0) }
      isSane = !value.hasNaN
    }

    /// Compares the properties from which all others are computed.
    package static func == (left: Filter, right: Filter) -> Bool {
      left.comparator == right.comparator && left.distance == right.distance
        && ByteOrdered.areSame(left.field, right.field) && left.value == right.value
    }

    package func hash(into hasher: inout Hasher) {
      hasher.combine(field)
      hasher.combine(comparator)
      hasher.combine(value)
    }

    package static let wholeRecord = "self"

    /// The system field that the filter names; `nil` means that the filter names a field of the
    /// record, or all texts of the record.
    package var systemField: SystemField? { SystemField(field) }

    /// Whether a record or user name is compared as a reference, and not as a string.
    var asksForReference: Bool {
      switch value {
      case .reference: true
      case .list(let members): members.first?.kind == .reference
      default: false
      }
    }
  }
}

/// The properties that CloudKit itself keeps of a record, besides the record's own fields. The raw
/// values are CloudKit's native names, and stored filters contain these names.
package enum SystemField: String, Hashable, Sendable, CaseIterable {
  case recordName = "___recordID"
  case changeTag = "___etag"
  case createdTimestamp = "___createTime"
  case createdUserRecordName = "___createdBy"
  case modifiedTimestamp = "___modTime"
  case modifiedUserRecordName = "___modifiedBy"

  /// Parses a native name. A record's own fields never begin with an underscore.
  package init?(_ field: String) {
    guard field.utf8.first == UInt8(ascii: "_") else { return nil }
    self.init(spelled: field)
  }

  /// The name in CloudKit Web Services (`systemFieldName`).
  package var webName: String {
    switch self {
    case .recordName: "recordName"
    case .changeTag: "recordChangeTag"
    case .createdTimestamp: "createdTimestamp"
    case .createdUserRecordName: "createdUserRecordName"
    case .modifiedTimestamp: "modifiedTimestamp"
    case .modifiedUserRecordName: "modifiedUserRecordName"
    }
  }

  /// The types of value that a filter may compare with the system field.
  package var kinds: [FieldValue.Kind] {
    switch self {
    case .createdTimestamp, .modifiedTimestamp: [.timestamp]
    case .recordName, .createdUserRecordName, .modifiedUserRecordName: [.string, .reference]
    case .changeTag: [.string]
    }
  }
}
