extension Subscription {
  /// The bytes that the subscription counts toward its user's bound: 64, its texts, and 16 more for
  /// each filter, member of a filter's list, searched word, argument and desired key. Even a short
  /// one of these takes memory and time to examine.
  package var bytes: Int {
    var bytes = 64 + id.name.utf8.count + info.bytes
    switch rule {
    case .query(let rule):
      bytes += rule.recordType.utf8.count + (rule.zone?.bytes ?? 0)
      for filter in rule.filters { bytes += filter.bytes }
    case .zone(let zone, let recordType):
      bytes += zone.bytes + (recordType?.utf8.count ?? 0)
    case .database(let recordType):
      bytes += recordType?.utf8.count ?? 0
    }
    return bytes
  }
}

extension QueryRule.Filter {
  fileprivate var bytes: Int {
    16 + field.utf8.count + value.bytes + 16 * words.count
  }
}

extension FieldValue {
  /// The bytes of the value's texts or numbers, and 16 more for each member of a list.
  package var bytes: Int {
    switch self {
    case .string(let text), .asset(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    case .reference(let name, let zone): name.utf8.count + (zone?.bytes ?? 0)
    case .int64, .double, .timestamp: 8
    case .location: 16
    case .list(let members): members.reduce(0) { $0 + 16 + $1.bytes }
    }
  }
}

extension ZoneID {
  fileprivate var bytes: Int { name.utf8.count + owner.name.utf8.count }
}

extension NotificationInfo {
  fileprivate var bytes: Int {
    // This code counts each list on its own. To join the lists first would take more time, and this
    // code runs at every removal of a subscription.
    func names(_ list: [String]) -> Int { list.reduce(0) { $0 + 16 + $1.utf8.count } }
    let texts = [sound, category, collapseKey].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    return alert.texts.reduce(texts) { $0 + ($1?.utf8.count ?? 0) }
      + alert.arguments.reduce(names(desiredKeys)) { $0 + names($1) }
  }
}
