/// Names of the members that requests may have, for each object. A member that has one of these
/// names in another spelling is refused and not ignored.
enum KnownMembers {
  /// The top level of a device's request, for all endpoints.
  static let request: [StaticString] = [
    "clientId", "syncToken", "metaSyncToken", "digestToken", "continuationMarker", "resultsLimit",
    "zones", "zoneID", "desiredRecordTypes", "reverse", "operations", "subscriptions",
    "notificationIDs",
    "apnsEnvironment", "apnsToken", "apnsTopic", "transport", "token", "subscription", "badge", "w",
  ]
  static let zoneID: [StaticString] = ["zoneName", "ownerRecordName"]
  /// One zone of `changes/zone`.
  static let zone: [StaticString] = [
    "zoneID", "syncToken", "resultsLimit", "desiredRecordTypes", "reverse",
  ]
  static let operation: [StaticString] = ["operationType", "subscription"]
  static let subscription: [StaticString] = [
    "subscriptionID", "subscriptionType", "query", "firesOn", "firesOnce", "zoneID", "zoneWide",
    "recordType", "notificationInfo", "urgent",
  ]
  static let query: [StaticString] = ["recordType", "filterBy", "sortBy"]
  static let filter: [StaticString] = [
    "comparator", "fieldName", "systemFieldName", "fieldValue", "distance",
  ]
  static let notificationInfo: [StaticString] = [
    "alertBody", "alertLocalizationKey", "alertLocalizationArgs", "alertActionLocalizationKey",
    "alertLaunchImage", "title", "titleLocalizationKey", "titleLocalizationArgs", "subtitle",
    "subtitleLocalizationKey", "subtitleLocalizationArgs", "soundName", "category", "shouldBadge",
    "shouldSendContentAvailable", "shouldSendMutableContent", "additionalFields", "collapseIDKey",
  ]

  /// The data of a producer's event, and its parts.
  static let eventData: [StaticString] = [
    "database", "zoneID", "record", "participant", "share", "changedBy", "sequence",
  ]
  static let eventRecord: [StaticString] = [
    "recordName", "recordType", "recordChangeTag", "fields", "created", "modified",
  ]
  static let eventStamp: [StaticString] = ["timestamp", "userRecordName"]
  static let eventAuthor: [StaticString] = ["userRecordName", "clientId"]
  static let eventShare: [StaticString] = ["recordName"]

  /// A field's value, of a record or a filter.
  static let fieldValue: [StaticString] = ["value", "type"]
  static let reference: [StaticString] = ["recordName", "zoneID", "action"]
}
