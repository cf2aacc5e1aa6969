/// The names of the members that each kind of object in requests may have. A member that has one of
/// these names in another spelling is refused and not ignored.
enum KnownMembers {
  /// The members of the top level of a device's request, for all endpoints together.
  static let request: [StaticString] = [
    "clientId", "syncToken", "metaSyncToken", "digestToken", "continuationMarker", "resultsLimit",
    "zones", "zoneID", "desiredRecordTypes", "reverse", "operations", "subscriptions",
    "notificationIDs", "apnsEnvironment", "apnsToken", "apnsTopic", "transport", "token",
    "subscription", "badge", "w",
  ]
  static let zoneID: [StaticString] = ["zoneName", "ownerRecordName"]
  /// The members of one zone in a `changes/zone` request.
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

  /// The members of the data of a producer's event.
  static let eventData: [StaticString] = [
    "database", "zoneID", "record", "participant", "share", "changedBy", "sequence",
  ]
  static let eventRecord: [StaticString] = [
    "recordName", "recordType", "recordChangeTag", "fields", "created", "modified",
  ]
  static let eventStamp: [StaticString] = ["timestamp", "userRecordName"]
  static let eventAuthor: [StaticString] = ["userRecordName", "clientId"]
  static let eventShare: [StaticString] = ["recordName"]

  /// The members of a field's value, in a record or in a filter.
  static let fieldValue: [StaticString] = ["value", "type"]
  static let reference: [StaticString] = ["recordName", "zoneID", "action"]
}
