import ZoneRelayClient

/// Something that happened to a phone: a line for people, or a line of JSON.
struct PhoneEvent: Encodable, Sendable {
  /// `registered`, `wake`, `page`, `removed`, `notifications`, `fetched`, `failed`, `account` or
  /// `total`.
  let event: String
  /// The phone's number, from 1.
  var phone = 1
  var clientId: String?
  var user: String?
  var wake: UInt32?
  var zone: ZoneID?
  var zones: [ZoneID]?
  var changed: [Record]?
  var deleted: [String]?
  var startsOver: Bool?
  var isLast: Bool?
  var gap: Bool?
  var why: String?
  var pages: Int?
  var records: Int?
  /// Seconds until the phone tries again, or until zones that must wait may be fetched.
  var seconds: Double?
  var count: Int?

  struct Record: Encodable, Sendable {
    var recordName: String
    var recordType: String?
    var recordChangeTag: String?
    var own: Bool
  }

  /// The lines for people.
  var lines: [String] {
    switch event {
    case "registered": ["registered as \(clientId ?? "") of \(user ?? ""): the courier reaches it"]
    case "wake": ["wake \(wake ?? 0): \(named)"]
    case "page": page
    case "removed": ["zone \(name(zone)) is gone: \(why ?? "")"]
    case "notifications": ["\(count ?? 0) notifications"]
    case "fetched":
      ["fetched: \(records ?? 0) records in \(pages ?? 0) pages, \(zones?.count ?? 0) zones"]
    case "failed": ["failed: \(why ?? "")" + (seconds.map { "; tries again in \($0) s" } ?? "")]
    case "account": ["user: \(user ?? "none")"]
    case "total":
      ["\(count ?? 0) phones: \(records ?? 0) records in \(pages ?? 0) pages, \(wake ?? 0) wakes"]
    default: [event]
    }
  }

  private var named: String {
    let names = (zones ?? []).map { name($0) }
    return names.isEmpty ? "no zone by name" : names.joined(separator: ", ")
  }

  private var page: [String] {
    let end = isLast == true ? "" : ", more to come"
    let start = startsOver == true ? " from its start" : ""
    let missing = gap == true ? ", changes are missing" : ""
    return ["zone \(name(zone))\(start)\(end)\(missing)"]
      + (deleted ?? []).map { "  \($0) deleted" }
      + (changed ?? []).map {
        "  \($0.recordType ?? "record") \($0.recordName) changed, tag \($0.recordChangeTag ?? "-")"
          + ($0.own ? ", by this phone" : "")
      }
  }

  private func name(_ zone: ZoneID?) -> String {
    zone.map { "\($0.name) of \($0.owner)" } ?? ""
  }
}
