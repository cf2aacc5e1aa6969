import Foundation

/// A record server that reports changes and tracks the net state that results from them.
struct Producer {
  let web: Web
  let key: String
  private(set) var count = 0
  /// Zone name → record name → change tag.
  private(set) var net: [String: [String: String]] = [:]
  private var created: Set<String> = []

  init(_ web: Web, key: String) {
    self.web = web
    self.key = key
  }

  /// The next change of a record, as an event.
  mutating func event(
    _ verb: String, record: String, zone: String, user: String, client: String? = nil,
    fields: [String: Any] = [:]
  ) -> [String: Any] {
    count += 1
    if verb == "deleted" {
      net[zone, default: [:]][record] = nil
    } else {
      net[zone, default: [:]][record] = "\(count)"
    }
    var author: [String: Any] = ["userRecordName": user]
    if let client { author["clientId"] = client }
    return [
      "specversion": "1.0", "id": "event-\(count)", "source": "/records/api-1",
      "type": "zonerelay.record.\(verb)", "time": "2026-11-21T03:00:00Z",
      "data": [
        "database": "private",
        "zoneID": ["zoneName": zone, "ownerRecordName": user],
        "record": [
          "recordName": record, "recordType": "Article", "recordChangeTag": "\(count)",
          "fields": fields,
        ],
        "changedBy": author,
      ],
    ]
  }

  func post(_ events: [[String: Any]]) async throws -> Web.Answer {
    try await Self.send(try Self.encode(events), to: web, key: key)
  }

  static func encode(_ events: [[String: Any]]) throws -> [UInt8] {
    [UInt8](try JSONSerialization.data(withJSONObject: events))
  }

  static func send(_ body: [UInt8], to web: Web, key: String) async throws -> Web.Answer {
    try await web.send(
      "POST", "/events/1/\(Workplace.container)/development", body, token: key,
      contentType: "application/cloudevents-batch+json")
  }
}
