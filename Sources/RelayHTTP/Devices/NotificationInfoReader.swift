import RelayCore
import RelayWire

/// Reads CloudKit's `notificationInfo`.
struct NotificationInfoReader {
  let limits: HTTPLimits

  func info(_ value: JSONCursor?) throws(JSONProblem) -> NotificationInfo {
    var info = NotificationInfo()
    guard let value else { return info }
    try value.object().refuseOtherSpellings(of: KnownMembers.notificationInfo)
    info.alert = try alert(value)
    info.sound = try text("soundName", value)
    info.category = try text("category", value)
    info.isContentAvailable = try flag("shouldSendContentAvailable", value)
    info.isMutable = try flag("shouldSendMutableContent", value)
    info.collapseKey = try text("collapseIDKey", value)
    info.badges = try flag("shouldBadge", value)
    if let keys = value.optional("additionalFields") {
      info.desiredKeys = try texts("additionalFields", value)
      guard info.desiredKeys.count <= limits.desiredKeys else {
        throw keys.problem("names more than \(limits.desiredKeys) fields")
      }
    }
    return info
  }

  private func alert(_ value: JSONCursor) throws(JSONProblem) -> NotificationInfo.AlertText {
    var alert = NotificationInfo.AlertText()
    alert.body = try text("alertBody", value)
    alert.bodyKey = try text("alertLocalizationKey", value)
    alert.bodyArguments = try texts("alertLocalizationArgs", value)
    alert.title = try text("title", value)
    alert.titleKey = try text("titleLocalizationKey", value)
    alert.titleArguments = try texts("titleLocalizationArgs", value)
    alert.subtitle = try text("subtitle", value)
    alert.subtitleKey = try text("subtitleLocalizationKey", value)
    alert.subtitleArguments = try texts("subtitleLocalizationArgs", value)
    alert.actionKey = try text("alertActionLocalizationKey", value)
    alert.launchImage = try text("alertLaunchImage", value)
    return alert
  }

  private func text(_ key: StaticString, _ value: JSONCursor) throws(JSONProblem) -> String? {
    guard let member = value.optional(key) else { return nil }
    return try text(member)
  }

  private func text(_ member: JSONCursor) throws(JSONProblem) -> String {
    let text = try member.string()
    guard text.utf8.count <= limits.subscriptionTextBytes else {
      throw member.problem("has more than \(limits.subscriptionTextBytes) bytes")
    }
    return text
  }

  private func texts(_ key: StaticString, _ value: JSONCursor) throws(JSONProblem) -> [String] {
    guard let member = value.optional(key) else { return [] }
    let items = try member.elements()
    guard items.count <= limits.subscriptionListItems else {
      throw member.problem("has more than \(limits.subscriptionListItems) items")
    }
    var texts: [String] = []
    for item in items { texts.append(try text(item)) }
    return texts
  }

  private func flag(_ key: StaticString, _ value: JSONCursor) throws(JSONProblem) -> Bool {
    try value.optional(key)?.boolean() ?? false
  }
}
