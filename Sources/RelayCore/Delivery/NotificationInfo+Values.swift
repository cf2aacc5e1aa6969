/// The record values that a notification shows: only those that its subscription names. A lane
/// keeps them with the subject or alert that pends, and removes them together with it.
extension NotificationInfo {
  /// The values of the desired keys, in order, up to the first value that does not fit; `isCut`
  /// says whether there is such a value.
  func values(
    of record: RecordChange, limits: Limits
  ) -> (values: [Field], bytes: Int, isCut: Bool) {
    var values: [Field] = []
    var total = 0
    for key in desiredKeys {
      guard let value = record.value(of: key) else { continue }
      let field = Field(name: key, value: value)
      // A value that is certainly too long is refused without being encoded.
      let left = limits.valueBytesPerNotification - total
      guard value.leastJSONBytes(upTo: left) <= left else {
        return (values, total, true)
      }
      var json = JSONText()
      json.key(field.name)
      json.value(field.value)
      guard total + json.bytes.count <= limits.valueBytesPerNotification else {
        return (values, total, true)
      }
      total += json.bytes.count
      values.append(field)
    }
    return (values, total, false)
  }

  var namesArguments: Bool { !alert.arguments.allSatisfy(\.isEmpty) }

  /// This information with the record's values in place of the localisation arguments. As in
  /// CloudKit, an argument is the name of a field of the record. A missing field is an empty
  /// argument, because the app's text refers to arguments by their places. A value that does not
  /// fit in addition to the desired keys' values is an empty argument, too.
  func withArguments(of record: RecordChange?, limits: Limits) -> Look {
    var look = Look(info: self)
    let kept = record.map { self.values(of: $0, limits: limits).bytes } ?? 0
    var left = limits.valueBytesPerNotification - kept
    func resolved(_ names: [String]) -> [String] {
      var texts: [String] = []
      for name in names {
        let text = record?.value(of: name)?.argument ?? ""
        let fits = text.utf8.count <= left
        if fits { left -= text.utf8.count } else { look.isCut = true }
        texts.append(fits ? text : "")
      }
      return texts
    }
    look.info.alert.bodyArguments = resolved(alert.bodyArguments)
    look.info.alert.titleArguments = resolved(alert.titleArguments)
    look.info.alert.subtitleArguments = resolved(alert.subtitleArguments)
    return look
  }
}

/// An alert's appearance, as it is fixed when the change matches.
struct Look {
  var info: NotificationInfo
  /// Whether a value that the alert names did not fit.
  var isCut = false
}

extension Subscription {
  /// The appearance of an alert for `change`, if the subscription cannot give it when the alert is
  /// shown: the alert names values of the record, or the subscription ends with this change. `nil`
  /// means that the subscription can give it.
  func look(for change: Change, limits: Limits) -> Look? {
    guard info.isVisible else { return nil }
    let endsNow =
      switch rule {
      case .query(let rule): rule.firesOnce
      case .zone: change.endsZone
      case .database: false
      }
    guard info.namesArguments else { return endsNow ? Look(info: info) : nil }
    let record: RecordChange? = if case .record(let record) = change.event { record } else { nil }
    return info.withArguments(of: record, limits: limits)
  }
}

extension FieldValue {
  private static let charactersMax = 100

  /// The value as a localisation argument: at most 100 characters (CloudKit may cut at that length,
  /// too).
  fileprivate var argument: String {
    switch self {
    case .string(let text), .asset(let text), .reference(let text, _): Self.start(of: text)
    case .int64(let number): number.description
    case .double(let number): number.description
    case .timestamp(let instant): instant.milliseconds.description
    case .bytes(let bytes): Hex.text(bytes.prefix(Self.charactersMax / 2))
    case .location(let latitude, let longitude): "\(latitude),\(longitude)"
    case .list(let values): Self.start(of: values)
    }
  }

  /// The members in order, up to the length of an argument.
  private static func start(of values: [FieldValue]) -> String {
    var text = ""
    for (place, value) in values.enumerated() {
      if place > 0 { text += ", " }
      text += value.argument
      // Each member after the first adds at least two characters. The loop assumes that a character
      // has at most sixteen bytes.
      if place > charactersMax / 2 || text.utf8.count > 16 * charactersMax { break }
    }
    return start(of: text)
  }

  /// The text, cut to at most 100 characters. A character may have any number of marks, so only 400
  /// scalars are read.
  private static func start(of text: String) -> String {
    String(String(text.unicodeScalars.prefix(4 * charactersMax)).prefix(charactersMax))
  }

  /// A lower bound of the value's length as JSON. For a list, the count stops when it exceeds
  /// `limit`.
  fileprivate func leastJSONBytes(upTo limit: Int) -> Int {
    switch self {
    case .string(let text), .asset(let text), .reference(let text, _): return 2 + text.utf8.count
    case .bytes(let bytes): return 2 + 2 * bytes.count
    case .int64, .double, .timestamp: return 1
    case .location: return 5
    case .list(let members):
      var total = 1 + 2 * members.count
      for member in members {
        guard total <= limit else { break }
        total += member.leastJSONBytes(upTo: limit) - 1
      }
      return total
    }
  }
}
