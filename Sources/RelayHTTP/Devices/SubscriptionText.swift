import RelayCore
import RelayWire

/// Writes subscriptions as CloudKit's dictionaries, with the values that the client saved.
enum SubscriptionText {
  static func write(_ subscription: Subscription, into json: inout JSONWriter) {
    json.object { json in
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
      NotificationInfoText.write(subscription.info, into: &json)
    }
  }

  private static func write(_ rule: QueryRule, into json: inout JSONWriter) {
    json.object("query") { json in
      json.string("recordType", rule.recordType)
      json.objects("filterBy", rule.filters) { json, filter in
        json.string("comparator", filter.comparator.name)
        if let system = filter.systemField {
          json.string("systemFieldName", system.webName)
        } else {
          json.string("fieldName", filter.field)
        }
        json.key("fieldValue")
        FieldText.write(filter.value, into: &json)
        if let distance = filter.distance { json.double("distance", distance) }
      }
    }
    var kinds: [String] = []
    if rule.firesOn.contains(.create) { kinds.append("create") }
    if rule.firesOn.contains(.update) { kinds.append("update") }
    if rule.firesOn.contains(.delete) { kinds.append("delete") }
    json.strings("firesOn", kinds)
    json.boolean("firesOnce", rule.firesOnce)
    if let zone = rule.zone { json.zoneID(zone) }
    json.boolean("zoneWide", rule.zone == nil)
  }
}
