import RelayCore
import RelayWire

/// Reads CloudKit's field values: `{"value": …, "type": "STRING"}`. If the type is missing, the
/// reader infers it from the value.
enum FieldReader {
  /// Reads a record's fields. A name may occur several times. After a field without a value, this
  /// method omits all further fields of the same name. Of the other fields, `RecordChange` keeps
  /// the first of each name.
  static func fields(
    of record: JSONCursor, _ limits: HTTPLimits
  ) throws(JSONProblem) -> [Field] {
    guard let object = record.optional("fields") else { return [] }
    var fields: [Field] = []
    var left = limits.valuesPerRecord
    /// The names, as UTF-8, of fields that have no value.
    var missing: Set<[UInt8]> = []
    for (place, (name, value)) in try object.members().enumerated() {
      guard name.utf8.first != UInt8(ascii: "_") else {
        throw value.problem("must not begin with an underscore: no field of a record does")
      }
      guard Name.isValid(name, bytesMax: limits.nameBytes) else {
        // The error gives the field's place and not its name, because the name may be very long.
        throw object.problem(
          "has a bad name at place \(place): a field's name must have 1 to \(limits.nameBytes) "
            + "bytes and no control characters")
      }
      guard missing.isEmpty || !missing.contains(Array(name.utf8)) else { continue }
      guard let value = try self.value(of: value) else {
        missing.insert(Array(name.utf8))
        continue
      }
      left -= value.count
      guard left >= 0 else {
        throw object.problem(
          "has more than \(limits.valuesPerRecord) values, the members of lists included; leave "
            + "out fields that no subscription names")
      }
      fields.append(Field(name: name, value: value))
    }
    return fields
  }

  /// Reads a field; returns `nil` if the field has no value.
  static func value(of field: JSONCursor) throws(JSONProblem) -> FieldValue? {
    try field.object().refuseOtherSpellings(of: KnownMembers.fieldValue)
    guard let value = field.optional("value") else { return nil }
    guard let type = field.optional("type") else { return try guess(value) }
    let name = try type.string()
    if let kind = memberKind(of: name) { return .list(try list(value, of: kind)) }
    guard let kind = FieldText.kind(named: name) else {
      throw type.problem("'\(name)' is no field type")
    }
    return try single(value, of: kind)
  }

  /// Reads a field whose value should be a list. The type may be a list type, such as
  /// `STRING_LIST`, or the type of the list's members.
  static func list(of field: JSONCursor) throws(JSONProblem) -> FieldValue? {
    guard let value = try field.object().optional("value"), value.isArray,
      let type = field.optional("type"), let kind = FieldText.kind(named: try type.string()),
      kind != .list
    else { return try self.value(of: field) }
    return .list(try list(value, of: kind))
  }

  /// The type of the members of a list type, such as `STRING_LIST`; `nil` if `name` is no list
  /// type.
  private static func memberKind(of name: String) -> FieldValue.Kind? {
    let (end, bytes) = ("_LIST".utf8, name.utf8)
    guard bytes.suffix(end.count).elementsEqual(end) else { return nil }
    let kind = FieldText.kind(
      named: String(decoding: bytes.dropLast(end.count), as: UTF8.self))
    return kind == .list ? nil : kind
  }

  private static func list(
    _ value: JSONCursor, of kind: FieldValue.Kind
  ) throws(JSONProblem) -> [FieldValue] {
    var values: [FieldValue] = []
    for element in try value.elements() { values.append(try single(element, of: kind)) }
    return values
  }

  private static func single(
    _ value: JSONCursor, of kind: FieldValue.Kind
  ) throws(JSONProblem) -> FieldValue {
    switch kind {
    case .string: return .string(try value.string())
    case .int64: return .int64(try value.integer())
    case .double: return .double(try value.double())
    case .bytes:
      guard let bytes = Base64.bytes(try value.string()) else {
        throw value.problem("must be base64")
      }
      return .bytes(bytes)
    case .timestamp: return .timestamp(Instant(milliseconds: try value.integer()))
    case .reference: return try reference(value)
    case .location: return try location(value)
    case .asset: return .asset(try asset(value))
    // Some clients write the type `LIST` for every list, whatever the type of its members is.
    case .list: return .list(try mixedList(value))
    }
  }

  private static func reference(_ value: JSONCursor) throws(JSONProblem) -> FieldValue {
    try value.object().refuseOtherSpellings(of: KnownMembers.reference)
    let name = try value.required("recordName").string()
    var zone: ZoneID?
    if let object = value.optional("zoneID") {
      try object.refuseOtherSpellings(of: KnownMembers.zoneID)
      // A missing owner means the owner of the record's own zone.
      var owner = try object.optional("ownerRecordName")?.string() ?? ""
      if ByteOrdered.areSame(owner, Name.currentUser) { owner = "" }
      zone = ZoneID(name: try object.required("zoneName").string(), owner: UserID(owner))
    }
    return .reference(recordName: name, zone: zone)
  }

  private static func location(_ value: JSONCursor) throws(JSONProblem) -> FieldValue {
    .location(
      latitude: try value.object().required("latitude").double(),
      longitude: try value.required("longitude").double())
  }

  /// The text that identifies an asset: its checksum, or the value itself if the value is a string.
  private static func asset(_ value: JSONCursor) throws(JSONProblem) -> String {
    if value.isString { return try value.string() }
    return try value.object().optional("fileChecksum")?.string() ?? ""
  }

  private static func guess(_ value: JSONCursor) throws(JSONProblem) -> FieldValue {
    if value.isString { return .string(try value.string()) }
    if value.isNumber {
      return value.isWrittenWhole ? .int64(try value.integer()) : .double(try value.double())
    }
    if value.isArray { return .list(try guessList(value)) }
    if value["recordName"] != nil { return try reference(value) }
    if value["latitude"] != nil { return try location(value) }
    if value["fileChecksum"] != nil { return .asset(try asset(value)) }
    throw value.problem("needs a type: it cannot be told from the value")
  }

  /// Reads a list that has no type. Its members must all be of one type; if any member is a double,
  /// whole numbers are read as doubles.
  private static func guessList(_ value: JSONCursor) throws(JSONProblem) -> [FieldValue] {
    let values = try mixedList(value)
    guard let kind = values.first?.kind, let other = values.firstIndex(where: { $0.kind != kind })
    else { return values }
    throw try value.elements()[other].problem("must be of the type of the list's other values")
  }

  /// Reads a list whose members are plain values or have the form `{"value": …, "type": …}`.
  private static func mixedList(_ value: JSONCursor) throws(JSONProblem) -> [FieldValue] {
    var values: [FieldValue] = []
    for element in try value.elements() {
      guard !element.isArray else { throw element.problem("must not be a list in a list") }
      guard let typed = element["value"] else {
        values.append(try guess(element))
        continue
      }
      guard !typed.isArray, let member = try self.value(of: element) else {
        throw typed.problem("must be one value: a list has no lists and no gaps")
      }
      values.append(member)
    }
    if values.contains(where: { $0.kind == .double }) { values = values.map(\.asDouble) }
    return values
  }
}

extension FieldValue {
  /// The number of values: a list counts as one, and so does each of its members.
  fileprivate var count: Int {
    guard case .list(let members) = self else { return 1 }
    return 1 + members.count
  }

  fileprivate var asDouble: FieldValue {
    guard case .int64(let number) = self else { return self }
    return .double(Double(number))
  }
}
