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
    if let badge, !dropped.contains(.badge) { json.member("badge", badge) }
    if !dropped.contains(.sound) { json.member("sound", info.sound) }
    if !dropped.contains(.category) { json.member("category", info.category) }
    if info.isContentAvailable { json.member("content-available", 1) }
    if info.isMutable { json.member("mutable-content", 1) }
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
    func add(_ key: String, _ values: [String]) {
      guard !values.isEmpty else { return }
      json.key(key)
      json.array(values) { $0.string($1) }
    }
    json.raw("{")
    json.member("title", alert.title)
    json.member("title-loc-key", alert.titleKey)
    add("title-loc-args", alert.titleArguments)
    json.member("subtitle", alert.subtitle)
    json.member("subtitle-loc-key", alert.subtitleKey)
    add("subtitle-loc-args", alert.subtitleArguments)
    json.member("body", alert.body)
    json.member("loc-key", alert.bodyKey)
    add("loc-args", alert.bodyArguments)
    json.member("action-loc-key", alert.actionKey)
    json.member("launch-image", alert.launchImage)
    json.raw("}")
  }
}
