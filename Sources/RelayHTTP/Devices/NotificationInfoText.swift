import RelayCore
import RelayWire

/// CloudKit's `notificationInfo`: its members in one table, by which it is read and written.
struct NotificationInfoText {
  let limits: HTTPLimits

  private enum Member: Sendable {
    case text(any WritableKeyPath<NotificationInfo, String?> & Sendable)
    case texts(any WritableKeyPath<NotificationInfo, [String]> & Sendable)
    case flag(any WritableKeyPath<NotificationInfo, Bool> & Sendable)
  }

  private static let members: [(name: StaticString, member: Member)] = [
    ("alertBody", .text(\.alert.body)),
    ("alertLocalizationKey", .text(\.alert.bodyKey)),
    ("alertLocalizationArgs", .texts(\.alert.bodyArguments)),
    ("title", .text(\.alert.title)),
    ("titleLocalizationKey", .text(\.alert.titleKey)),
    ("titleLocalizationArgs", .texts(\.alert.titleArguments)),
    ("subtitle", .text(\.alert.subtitle)),
    ("subtitleLocalizationKey", .text(\.alert.subtitleKey)),
    ("subtitleLocalizationArgs", .texts(\.alert.subtitleArguments)),
    ("alertActionLocalizationKey", .text(\.alert.actionKey)),
    ("alertLaunchImage", .text(\.alert.launchImage)),
    ("soundName", .text(\.sound)),
    ("category", .text(\.category)),
    ("shouldBadge", .flag(\.badges)),
    ("shouldSendContentAvailable", .flag(\.isContentAvailable)),
    ("shouldSendMutableContent", .flag(\.isMutable)),
    ("additionalFields", .texts(\.desiredKeys)),
    ("collapseIDKey", .text(\.collapseKey)),
  ]

  func info(_ value: JSONCursor?) throws(JSONProblem) -> NotificationInfo {
    var info = NotificationInfo()
    guard let value else { return info }
    try value.object().refuseOtherSpellings(of: Self.members.map(\.name))
    for (name, member) in Self.members {
      guard let found = value.optional(name) else { continue }
      switch member {
      case .text(let path): info[keyPath: path] = try text(found)
      case .texts(let path): info[keyPath: path] = try texts(found)
      case .flag(let path): info[keyPath: path] = try found.boolean()
      }
    }
    if let keys = value.optional("additionalFields"), info.desiredKeys.count > limits.desiredKeys {
      throw keys.problem("names more than \(limits.desiredKeys) fields")
    }
    return info
  }

  private func text(_ member: JSONCursor) throws(JSONProblem) -> String {
    let text = try member.string()
    guard text.utf8.count <= limits.subscriptionTextBytes else {
      throw member.problem("has more than \(limits.subscriptionTextBytes) bytes")
    }
    return text
  }

  private func texts(_ member: JSONCursor) throws(JSONProblem) -> [String] {
    let items = try member.elements()
    guard items.count <= limits.subscriptionListItems else {
      throw member.problem("has more than \(limits.subscriptionListItems) items")
    }
    var texts: [String] = []
    for item in items { texts.append(try text(item)) }
    return texts
  }

  /// Writes the member `notificationInfo`, with only those of its members whose values differ from
  /// the default. Writes nothing if all values are the default.
  static func write(_ info: NotificationInfo, into json: inout JSONWriter) {
    guard info != NotificationInfo() else { return }
    json.object("notificationInfo") { json in
      for (name, member) in members {
        switch member {
        case .text(let path): json.string(name, ifAny: info[keyPath: path])
        case .texts(let path):
          if !info[keyPath: path].isEmpty { json.strings(name, info[keyPath: path]) }
        case .flag(let path): if info[keyPath: path] { json.boolean(name, true) }
        }
      }
    }
  }
}
