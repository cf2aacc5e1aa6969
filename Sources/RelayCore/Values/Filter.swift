extension QueryRule {
  /// One condition of a query subscription. A record that lacks the field, or has another type
  /// there, does not pass, whatever the comparator; NaN never passes.
  ///
  /// Immutable, so that what is compiled from it stays true. The HTTP layer refuses a value that
  /// does not go with its comparator (`Comparator.operand`); such a filter would just never pass.
  package struct Filter: Hashable, Sendable {
    /// A record's field; or a system field under its native name (`SystemField`); or `self`, with
    /// a token search: all texts of the record.
    package let field: String
    package let comparator: Comparator
    package let value: FieldValue
    /// Metres, with `near` only.
    package let distance: Double?
    /// What a token search looks for.
    let words: [SearchWords.Word]
    /// The type of a list's members; nil: it is no list, or not of one type.
    let members: MemberKind?
    /// NaN goes with nothing.
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

    /// All else follows from these.
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

    /// Nil: a field of the record, or all its texts.
    package var systemField: SystemField? { SystemField(field) }

    /// Record and user names are strings or references, as the filter's value has it.
    var asksForReference: Bool {
      switch value {
      case .reference: true
      case .list(let members): members.first?.kind == .reference
      default: false
      }
    }
  }
}

/// What CloudKit itself keeps of a record, beside its fields. The raw values are its native names;
/// they are kept in stores.
package enum SystemField: String, Hashable, Sendable, CaseIterable {
  case recordName = "___recordID"
  case changeTag = "___etag"
  case createdTimestamp = "___createTime"
  case createdUserRecordName = "___createdBy"
  case modifiedTimestamp = "___modTime"
  case modifiedUserRecordName = "___modifiedBy"

  /// Reads a native name. A record's own fields never begin with an underscore.
  package init?(_ field: String) {
    guard field.utf8.first == UInt8(ascii: "_") else { return nil }
    self.init(spelled: field)
  }

  /// As CloudKit Web Services calls it (`systemFieldName`).
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

  /// What a filter may compare it with.
  package var kinds: [FieldValue.Kind] {
    switch self {
    case .createdTimestamp, .modifiedTimestamp: [.timestamp]
    case .recordName, .createdUserRecordName, .modifiedUserRecordName: [.string, .reference]
    case .changeTag: [.string]
    }
  }
}
