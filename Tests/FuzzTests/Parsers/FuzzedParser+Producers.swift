import HTTPTypes
import Hummingbird
@testable import RelayCore
@testable import RelayHTTP
import RelayWire

/// Parsers of what producers send.
extension FuzzedParser {
  static let scope = Scope(container: "iCloud.com.example.notes", environment: .development)
  static let now = Instant(milliseconds: 1_795_230_000_000)

  static let fromProducers: [FuzzedParser] = [
    FuzzedParser("json", texts: jsonSeeds, words: jsonWords) { bytes in
      guard let tree = try? JSONTree(bytes) else { return }
      visit(tree.root)
    },
    FuzzedParser("events", texts: eventSeeds, words: jsonWords + eventWords) { bytes in
      guard let root = try? JSONTree(bytes).root else { return }
      let events = (try? root.elements()) ?? [root]
      for event in events { _ = try? reader.change(event) }
    },
    FuzzedParser("binary-event", texts: binarySeeds, words: eventWords) { bytes in
      // The attributes are before the first empty line, the data after it.
      let text = String(decoding: bytes, as: UTF8.self)
      let parts = text.split(separator: "\n\n", maxSplits: 1).map(String.init)
      var headers = HTTPFields()
      for line in (parts.first ?? "").split(separator: "\n") {
        let field = line.split(separator: ":", maxSplits: 1).map(String.init)
        guard field.count == 2, let name = HTTPField.Name(field[0]) else { continue }
        headers.append(HTTPField(name: name, value: field[1]))
      }
      let body = Array((parts.count > 1 ? parts[1] : "").utf8)
      guard BinaryEvent.isOne(headers), let event = try? BinaryEvent(headers, body: body) else {
        return
      }
      _ = event.id
      _ = try? event.change(by: reader)
    },
    FuzzedParser("timestamp", texts: ["2026-11-21T03:00:00Z", "2026-02-29T23:59:60.123456+23:59"]) {
      _ = Timestamp.instant(String(decoding: $0, as: UTF8.self))
    },
  ]

  private static let reader = EventReader(
    scope: scope, producer: "records-1", ids: FuzzKeys(), limits: HTTPLimits())

  private static func visit(_ value: JSONCursor) {
    _ = try? value.string()
    _ = try? value.boolean()
    _ = value.path
    for element in (try? value.elements()) ?? [] { visit(element) }
    for member in (try? value.members()) ?? [] { visit(member.value) }
  }

  static let jsonWords = [
    "\"", "\\u0000", "\\ud83e", "{", "}", "[", "]", ":", ",", "null", "true", "-0", "1e999",
    "-1e-400",
    "9223372036854775808", "18446744073709551616", "0.1", "\\\"", "é",
  ]
  static let jsonSeeds = [#"{"a":[1,-2.5e3,"\u00e9\n\ud83e\udded",true,null,{}],"b":{"c":[[]]}}"#]
  static let eventWords = [
    "specversion", "zonerelay.record.created", "zonerelay.zone.purged", "zonerelay.share.granted",
    "\"type\":\"TIMESTAMP\"", "\"type\":\"BYTES_LIST\"", "\"type\":\"LOCATION\"",
    "\"type\":\"LIST\"",
    "\"sequence\":-1", "recordChangeTag", "fields", "changedBy", "clientId", "ce-id:", "%ff",
  ]
  static let eventSeeds = [
    """
    [{"specversion":"1.0","id":"1","source":"/r","type":"zonerelay.record.updated",\
    "time":"2026-11-21T03:00:00.5+01:00","data":{"database":"private",\
    "zoneID":{"zoneName":"Z","ownerRecordName":"_a"},"record":{"recordName":"A","recordType":"T",\
    "recordChangeTag":"7","created":{"timestamp":1,"userRecordName":"_a"},\
    "fields":{"s":{"value":"x","type":"STRING"},"n":{"value":-1,"type":"INT64"},\
    "d":{"value":1.5,"type":"DOUBLE"},"b":{"value":"AAE=","type":"BYTES"},\
    "t":{"value":1795230000000,"type":"TIMESTAMP"},"l":{"value":["a"],"type":"STRING_LIST"},\
    "p":{"value":{"latitude":1.0,"longitude":-180.0},"type":"LOCATION"},\
    "r":{"value":{"recordName":"B","action":"NONE"},"type":"REFERENCE"}}},\
    "changedBy":{"userRecordName":"_a","clientId":"6f1c2a34-0000-4000-8000-00000000b3c4"},\
    "sequence":42}}]
    """,
    """
    {"specversion":"1.0","id":"2","source":"/r","type":"zonerelay.share.granted","data":\
    {"database":"private","zoneID":{"zoneName":"Z","ownerRecordName":"_a"},"participant":"_b"}}
    """,
  ]
  private static let binarySeeds = [
    "ce-specversion:1.0\nce-id:a%20b\nce-source:/r\nce-type:zonerelay.zone.deleted\n"
      + "ce-time:2026-11-21T03:00:00Z\n\n"
      + #"{"database":"private","zoneID":{"zoneName":"Z","ownerRecordName":"_a"}}"#
  ]
}
