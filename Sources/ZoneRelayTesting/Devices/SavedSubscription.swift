internal import ZoneRelayClient

/// A subscription as the relay in memory keeps it.
struct SavedSubscription {
  enum Kind: String {
    case query
    case zone
    case database
  }

  let kind: Kind
  /// The only zone whose changes fire the subscription; nil means every zone.
  let zone: ZoneID?
  let recordType: String?
  let firesOn: Set<String>

  init(_ json: [String: Any], of user: String) throws(Answer) {
    guard let kind = (json["subscriptionType"] as? String).flatMap(Kind.init) else {
      throw Answer.badRequest("subscriptionType must be query, zone or database")
    }
    let query = json["query"] as? [String: Any]
    guard (query?["filterBy"] as? [Any] ?? []).isEmpty else {
      throw Answer.badRequest("the relay in memory knows no filters")
    }
    self.kind = kind
    zone = ZoneID(json["zoneID"], of: user)
    guard kind != .zone || zone?.name != "_defaultZone" else {
      throw Answer.badRequest("AppDefaultZone does not support sync semantics")
    }
    recordType = query?["recordType"] as? String ?? json["recordType"] as? String
    firesOn = Set(json["firesOn"] as? [String] ?? ["create", "update", "delete"])
  }

  func fires(for change: ReportedChange) -> Bool {
    if let zone, zone != change.zone { return false }
    guard let record = change.record else { return kind != .query }
    return (recordType == nil || recordType == record.type) && firesOn.contains(change.verb)
  }
}
