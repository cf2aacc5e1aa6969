public import Foundation

/// A value of a record's field, with CloudKit's types.
public indirect enum FieldValue: Hashable, Sendable {
  case string(String)
  case int64(Int64)
  case double(Double)
  case bytes(Data)
  case timestamp(Date)
  /// A reference to another record, by that record's name and zone. If the zone is nil, the other
  /// record is in the same zone as the record that has this value.
  case reference(String, zone: ZoneID?)
  case location(latitude: Double, longitude: Double)
  /// Values of one type.
  case list([FieldValue])
}

extension FieldValue: Encodable {
  private enum CodingKeys: String, CodingKey { case value, type }

  public func encode(to encoder: any Encoder) throws {
    let (type, value) = try members(at: encoder.codingPath)
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(value, forKey: .value)
    try members.encodeIfPresent(type, forKey: .type)
  }

  /// The name of the value's type, which is nil for an empty list, and the value without its type.
  private func members(
    at place: [any CodingKey]
  ) throws -> (type: String?, value: any Encodable) {
    switch self {
    case .string(let text): return ("STRING", text)
    case .int64(let number): return ("INT64", number)
    case .double(let number): return ("DOUBLE", number)
    case .bytes(let bytes): return ("BYTES", bytes.base64EncodedString())
    case .timestamp(let date):
      let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
      guard let number = Int64(exactly: milliseconds) else {
        throw EncodingError.invalidValue(
          date, .init(codingPath: place, debugDescription: "no relay has such a time"))
      }
      return ("TIMESTAMP", number)
    case .reference(let name, let zone):
      return ("REFERENCE", Reference(recordName: name, zoneID: zone))
    case .location(let latitude, let longitude):
      return ("LOCATION", ["latitude": latitude, "longitude": longitude])
    case .list(let values):
      let items = try values.map { try $0.members(at: place) }
      return (items.first?.type.map { "\($0)_LIST" }, items.map { Bare(value: $0.value) })
    }
  }

  /// A value in a list, encoded without its type.
  private struct Bare: Encodable {
    var value: any Encodable

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  }

  private struct Reference: Encodable {
    var recordName: String
    var zoneID: ZoneID?
  }
}
