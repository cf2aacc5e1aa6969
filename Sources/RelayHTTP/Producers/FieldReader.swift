import RelayCore
import RelayWire

/// CloudKit's field values: `{"value": …, "type": "STRING"}`. A type left out is guessed.
enum FieldReader {
  static func fields(of record: JSONCursor) throws(JSONProblem) -> [Field] {
    guard let object = record.optional("fields") else { return [] }
    var fields: [Field] = []
    for (name, value) in try object.members() {
      guard let value = try self.value(of: value) else { continue }
      fields.append(Field(name: name, value: value))
    }
    return fields
  }

  /// Nil: the field has no value.
  static func value(of field: JSONCursor) throws(JSONProblem) -> FieldValue? {
    guard let value = try field.object().optional("value") else { return nil }
    guard let type = field.optional("type") else { return try guess(value) }
    let name = try type.string()
    if name.hasSuffix("_LIST"), let kind = Kind(rawValue: String(name.dropLast(5))) {
      return .list(try list(value, of: kind))
    }
    guard let kind = Kind(rawValue: name) else {
      throw type.problem("'\(name)' is no field type")
    }
    return try single(value, of: kind)
  }

  private enum Kind: String {
    case string = "STRING"
    case int64 = "INT64"
    case double = "DOUBLE"
    case bytes = "BYTES"
    case timestamp = "TIMESTAMP"
    case reference = "REFERENCE"
    case location = "LOCATION"
    case asset = "ASSETID"
  }

  private static func list(
    _ value: JSONCursor, of kind: Kind
  ) throws(JSONProblem) -> [FieldValue] {
    var values: [FieldValue] = []
    for element in try value.elements() { values.append(try single(element, of: kind)) }
    return values
  }

  private static func single(
    _ value: JSONCursor, of kind: Kind
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
    }
  }

  private static func reference(_ value: JSONCursor) throws(JSONProblem) -> FieldValue {
    let name = try value.object().required("recordName").string()
    var zone: ZoneID?
    if let object = value.optional("zoneID") {
      let owner = try object.optional("ownerRecordName")?.string() ?? ""
      zone = ZoneID(name: try object.required("zoneName").string(), owner: UserID(owner))
    }
    return .reference(recordName: name, zone: zone)
  }

  private static func location(_ value: JSONCursor) throws(JSONProblem) -> FieldValue {
    .location(
      latitude: try value.object().required("latitude").double(),
      longitude: try value.required("longitude").double())
  }

  /// An asset is known by its checksum; a bare string stands for itself.
  private static func asset(_ value: JSONCursor) throws(JSONProblem) -> String {
    if value.isString { return try value.string() }
    return try value.object().optional("fileChecksum")?.string() ?? ""
  }

  private static func guess(_ value: JSONCursor) throws(JSONProblem) -> FieldValue {
    if value.isString { return .string(try value.string()) }
    if value.isNumber {
      return value.isWrittenWhole ? .int64(try value.integer()) : .double(try value.double())
    }
    if value.isArray {
      var values: [FieldValue] = []
      for element in try value.elements() { values.append(try guess(element)) }
      return .list(values)
    }
    if value["recordName"] != nil { return try reference(value) }
    if value["latitude"] != nil { return try location(value) }
    if value["fileChecksum"] != nil { return .asset(try asset(value)) }
    throw value.problem("needs a type: it cannot be told from the value")
  }
}
