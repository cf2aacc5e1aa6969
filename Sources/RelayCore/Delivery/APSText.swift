/// Apple's own part of a payload. A silent push has only `content-available`. An alert with only a
/// body is a plain string, and any other alert is a dictionary, as in CloudKit's own pushes.
enum APSText {
  static func encode(
    _ info: NotificationInfo?, badge: Int?, _ cut: PayloadCut
  ) -> [UInt8] {
    let dropped = cut.dropped
    var json = JSONText()
    guard let info else {
      json.raw("{\"content-available\":1}")
      return json.bytes
    }
    json.raw("{")
    alert(info.alert.cut(cut), into: &json)
    if let badge, !dropped.contains(.badge) {
      json.key("badge")
      json.number(badge)
    }
    if let sound = info.sound, !dropped.contains(.sound) {
      json.key("sound")
      json.string(sound)
    }
    if let category = info.category, !dropped.contains(.category) {
      json.key("category")
      json.string(category)
    }
    if info.isContentAvailable {
      json.key("content-available")
      json.raw("1")
    }
    if info.isMutable {
      json.key("mutable-content")
      json.raw("1")
    }
    json.raw("}")
    return json.bytes
  }

  private static func alert(_ alert: NotificationInfo.AlertText, into json: inout JSONText) {
    guard !alert.isEmpty else { return }
    json.key("alert")
    var bare = NotificationInfo.AlertText()
    bare.body = alert.body
    if alert == bare, let body = alert.body {
      json.string(body)
    } else {
      dictionary(alert, into: &json)
    }
  }

  private static func dictionary(
    _ alert: NotificationInfo.AlertText, into json: inout JSONText
  ) {
    func add(_ key: String, _ value: String?) {
      guard let value else { return }
      json.key(key)
      json.string(value)
    }
    func add(_ key: String, _ values: [String]) {
      guard !values.isEmpty else { return }
      json.key(key)
      json.raw("[")
      for value in values {
        json.separate()
        json.string(value)
      }
      json.raw("]")
    }
    json.raw("{")
    add("title", alert.title)
    add("title-loc-key", alert.titleKey)
    add("title-loc-args", alert.titleArguments)
    add("subtitle", alert.subtitle)
    add("subtitle-loc-key", alert.subtitleKey)
    add("subtitle-loc-args", alert.subtitleArguments)
    add("body", alert.body)
    add("loc-key", alert.bodyKey)
    add("loc-args", alert.bodyArguments)
    add("action-loc-key", alert.actionKey)
    add("launch-image", alert.launchImage)
    json.raw("}")
  }
}
