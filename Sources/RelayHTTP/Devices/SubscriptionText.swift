import RelayCore
import RelayWire

/// Writes subscriptions as CloudKit's dictionaries, with the values that the client saved.
enum SubscriptionText {
  static func write(_ subscription: Subscription, into json: inout JSONWriter) {
    json.beginObject()
    json.string("subscriptionID", subscription.id.name)
    switch subscription.rule {
    case .query(let rule):
      json.string("subscriptionType", "query")
      write(rule, into: &json)
    case .zone(let zone, let recordType):
      json.string("subscriptionType", "zone")
      json.zoneID(zone)
      json.string("recordType", ifAny: recordType)
    case .database(let recordType):
      json.string("subscriptionType", "database")
      json.string("recordType", ifAny: recordType)
    }
    if subscription.isUrgent { json.boolean("urgent", true) }
    write(subscription.info, into: &json)
    json.endObject()
  }

  private static func write(_ rule: QueryRule, into json: inout JSONWriter) {
    json.key("query")
    json.beginObject()
    json.string("recordType", rule.recordType)
    json.key("filterBy")
    json.beginArray()
    for filter in rule.filters { write(filter, into: &json) }
    json.endArray()
    json.endObject()
    var kinds: [String] = []
    if rule.firesOn.contains(.create) { kinds.append("create") }
    if rule.firesOn.contains(.update) { kinds.append("update") }
    if rule.firesOn.contains(.delete) { kinds.append("delete") }
    json.strings("firesOn", kinds)
    json.boolean("firesOnce", rule.firesOnce)
    if let zone = rule.zone { json.zoneID(zone) }
    json.boolean("zoneWide", rule.zone == nil)
  }

  private static func write(_ filter: QueryRule.Filter, into json: inout JSONWriter) {
    json.beginObject()
    json.string("comparator", filter.comparator.name)
    if let system = filter.systemField {
      json.string("systemFieldName", system.webName)
    } else {
      json.string("fieldName", filter.field)
    }
    json.key("fieldValue")
    FieldText.write(filter.value, into: &json)
    if let distance = filter.distance {
      json.key("distance")
      json.double(distance)
    }
    json.endObject()
  }

  private static func write(_ info: NotificationInfo, into json: inout JSONWriter) {
    guard info != NotificationInfo() else { return }
    json.key("notificationInfo")
    json.beginObject()
    write(info.alert, into: &json)
    json.string("soundName", ifAny: info.sound)
    json.string("category", ifAny: info.category)
    if info.badges { json.boolean("shouldBadge", true) }
    if info.isContentAvailable { json.boolean("shouldSendContentAvailable", true) }
    if info.isMutable { json.boolean("shouldSendMutableContent", true) }
    if !info.desiredKeys.isEmpty { json.strings("additionalFields", info.desiredKeys) }
    json.string("collapseIDKey", ifAny: info.collapseKey)
    json.endObject()
  }

  private static func write(_ alert: NotificationInfo.AlertText, into json: inout JSONWriter) {
    func list(_ key: StaticString, _ texts: [String]) {
      if !texts.isEmpty { json.strings(key, texts) }
    }
    json.string("alertBody", ifAny: alert.body)
    json.string("alertLocalizationKey", ifAny: alert.bodyKey)
    list("alertLocalizationArgs", alert.bodyArguments)
    json.string("title", ifAny: alert.title)
    json.string("titleLocalizationKey", ifAny: alert.titleKey)
    list("titleLocalizationArgs", alert.titleArguments)
    json.string("subtitle", ifAny: alert.subtitle)
    json.string("subtitleLocalizationKey", ifAny: alert.subtitleKey)
    list("subtitleLocalizationArgs", alert.subtitleArguments)
    json.string("alertActionLocalizationKey", ifAny: alert.actionKey)
    json.string("alertLaunchImage", ifAny: alert.launchImage)
  }
}
