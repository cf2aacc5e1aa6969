/// What a notification shows of its record: the values its subscription names and nothing else.
/// They are kept with what pends on a lane and go with it.
extension NotificationInfo {
  /// The values of the desired keys, as far as they fit.
  func values(of record: RecordChange, limits: Limits) -> (values: [Field], isCut: Bool) {
    var values: [Field] = []
    var bytes = 0
    for key in desiredKeys {
      guard let field = record.fields.first(where: { $0.name == key }) else { continue }
      var json = JSONText()
      json.key(field.name)
      json.value(field.value)
      bytes += json.bytes.count
      guard bytes <= limits.valueBytesPerNotification else { return (values, true) }
      values.append(field)
    }
    return (values, false)
  }

  var namesArguments: Bool {
    !alert.bodyArguments.isEmpty || !alert.titleArguments.isEmpty
      || !alert.subtitleArguments.isEmpty
  }

  /// With the record's values in place of the localisation arguments, which are names of its fields
  /// (cloudkit-wire, section 3). A field that is missing is an empty argument, for the text of the
  /// app counts on their places; what is beyond the limit goes empty as well.
  func withArguments(from fields: [Field], limits: Limits) -> NotificationInfo {
    var left = limits.valueBytesPerNotification
    func resolved(_ names: [String]) -> [String] {
      names.map { name in
        let value = fields.first { $0.name == name }?.value.argument ?? ""
        guard value.utf8.count <= left else { return "" }
        left -= value.utf8.count
        return value
      }
    }
    var info = self
    info.alert.bodyArguments = resolved(alert.bodyArguments)
    info.alert.titleArguments = resolved(alert.titleArguments)
    info.alert.subtitleArguments = resolved(alert.subtitleArguments)
    return info
  }
}

extension Subscription {
  /// How an alert for `change` looks, where the subscription could not say it when it is shown: it
  /// names values of the record, or it ends with this very change. Nil: as it says then.
  func look(for change: Change, limits: Limits) -> NotificationInfo? {
    guard info.isVisible else { return nil }
    let endsNow: Bool
    switch rule {
    case .query(let rule): endsNow = rule.firesOnce
    case .zone: endsNow = change.endsZone
    case .database: endsNow = false
    }
    guard info.namesArguments else { return endsNow ? info : nil }
    guard case .record(let record) = change.event else {
      return info.withArguments(from: [], limits: limits)
    }
    return info.withArguments(from: record.fields, limits: limits)
  }
}

extension FieldValue {
  /// As a localisation argument: text, at most 100 characters of it (CloudKit may cut there too).
  fileprivate var argument: String {
    switch self {
    case .string(let text), .asset(let text): String(text.prefix(100))
    case .int64(let number): number.description
    case .double(let number): number.description
    case .timestamp(let instant): instant.milliseconds.description
    case .bytes(let bytes): Hex.text(bytes.prefix(50))
    case .reference(let recordName, _): String(recordName.prefix(100))
    case .location(let latitude, let longitude): "\(latitude),\(longitude)"
    case .list(let values): String(values.map(\.argument).joined(separator: ", ").prefix(100))
    }
  }
}
