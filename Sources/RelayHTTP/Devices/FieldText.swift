import RelayCore
import RelayWire

/// Writes field values as CloudKit spells them: `{"value": …, "type": …}`.
enum FieldText {
  static func write(_ value: FieldValue, into json: inout JSONWriter) {
    json.object { json in
      json.key("value")
      bare(value, into: &json)
      json.string("type", type(of: value))
    }
  }

  /// The size of a value in bytes, which `limits.subscriptionTextBytes` bounds.
  static func textBytes(_ value: FieldValue) -> Int {
    switch value {
    case .string(let text), .asset(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    case .reference(let name, let zone):
      name.utf8.count + (zone.map { $0.name.utf8.count + $0.owner.name.utf8.count } ?? 0)
    case .int64, .double, .timestamp: 8
    case .location: 16
    case .list(let values): values.reduce(0) { $0 + textBytes($1) }
    }
  }

  private static func type(of value: FieldValue) -> String {
    guard case .list(let values) = value else { return name(of: value.kind) }
    return name(of: values.first?.kind ?? .string) + "_LIST"
  }

  /// The type as CloudKit spells it.
  static func name(of kind: FieldValue.Kind) -> String {
    switch kind {
    case .string: "STRING"
    case .int64: "INT64"
    case .double: "DOUBLE"
    case .bytes: "BYTES"
    case .timestamp: "TIMESTAMP"
    case .reference: "REFERENCE"
    case .location: "LOCATION"
    case .asset: "ASSETID"
    case .list: "LIST"
    }
  }

  static func kind(named name: String) -> FieldValue.Kind? {
    FieldValue.Kind.allCases.first { ByteOrdered.areSame(Self.name(of: $0), name) }
  }

  private static func bare(_ value: FieldValue, into json: inout JSONWriter) {
    switch value {
    case .string(let text), .asset(let text): json.string(text)
    case .int64(let number): json.integer(number)
    case .double(let number): json.double(number)
    case .bytes(let bytes): json.string(Base64.text(bytes))
    case .timestamp(let instant): json.integer(instant.milliseconds)
    case .reference(let name, let zone):
      json.object { json in
        json.string("recordName", name)
        guard let zone else { return }
        // If the client named no owner, the relay writes no owner.
        guard zone.owner.name.isEmpty else { return json.zoneID(zone) }
        json.object("zoneID") { $0.string("zoneName", zone.name) }
      }
    case .location(let latitude, let longitude):
      json.object { json in
        json.double("latitude", latitude)
        json.double("longitude", longitude)
      }
    case .list(let values):
      json.beginArray()
      for value in values { bare(value, into: &json) }
      json.endArray()
    }
  }
}
