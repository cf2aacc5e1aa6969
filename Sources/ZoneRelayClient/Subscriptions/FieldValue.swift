public import Foundation

/// A value of a record's field, with CloudKit's types.
public indirect enum FieldValue: Hashable, Sendable {
  case string(String)
  case int64(Int64)
  case double(Double)
  case bytes(Data)
  case timestamp(Date)
  /// A reference to a record; nil as its zone means the record's own zone.
  case reference(String, zone: ZoneID?)
  case location(latitude: Double, longitude: Double)
  /// Values of one type.
  case list([FieldValue])
}

extension FieldValue: Encodable {
  private enum CodingKeys: String, CodingKey { case value, type }

  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(Bare(value: self), forKey: .value)
    try members.encodeIfPresent(typeName, forKey: .type)
  }

  /// nil for an empty list, which is of every type.
  private var typeName: String? {
    switch self {
    case .string: "STRING"
    case .int64: "INT64"
    case .double: "DOUBLE"
    case .bytes: "BYTES"
    case .timestamp: "TIMESTAMP"
    case .reference: "REFERENCE"
    case .location: "LOCATION"
    case .list(let values): values.first?.typeName.map { "\($0)_LIST" }
    }
  }

  /// The value without its type.
  private struct Bare: Encodable {
    var value: FieldValue

    func encode(to encoder: any Encoder) throws {
      var single = encoder.singleValueContainer()
      switch value {
      case .string(let text): try single.encode(text)
      case .int64(let number): try single.encode(number)
      case .double(let number): try single.encode(number)
      case .bytes(let bytes): try single.encode(bytes.base64EncodedString())
      case .timestamp(let date):
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        guard let number = Int64(exactly: milliseconds) else {
          throw EncodingError.invalidValue(
            date,
            .init(codingPath: encoder.codingPath, debugDescription: "no relay has such a time"))
        }
        try single.encode(number)
      case .reference(let name, let zone):
        try single.encode(Reference(recordName: name, zoneID: zone))
      case .location(let latitude, let longitude):
        try single.encode(["latitude": latitude, "longitude": longitude])
      case .list(let values): try single.encode(values.map(Bare.init))
      }
    }
  }

  private struct Reference: Encodable {
    var recordName: String
    var zoneID: ZoneID?
  }
}
