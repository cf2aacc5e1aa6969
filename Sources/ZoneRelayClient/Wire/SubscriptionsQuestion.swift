/// What happens to one subscription.
struct SubscriptionChange {
  let id: String
  let database: Subscription.Database
  /// nil if the subscription is removed.
  var saved: Subscription?
}

/// The body of a request to `subscriptions/modify`.
struct SubscriptionsQuestion: Encodable {
  private var operations: [Operation]

  init(_ changes: some Sequence<SubscriptionChange>) {
    operations = changes.map {
      Operation(
        operationType: $0.saved == nil ? "delete" : "update", subscription: SubscriptionText($0))
    }
  }

  private struct Operation: Encodable {
    var operationType: String
    var subscription: SubscriptionText
  }
}

/// A subscription as the relay reads it.
private struct SubscriptionText: Encodable {
  private var subscriptionID: String
  private var subscriptionType: String?
  private var query: Query?
  private var recordType: String?
  private var zoneID: ZoneID?
  private var firesOn: [RecordQuery.Event]?
  private var firesOnce: Bool?
  private var urgent: Bool?
  private var notificationInfo: NotificationInfo?

  init(_ change: SubscriptionChange) {
    subscriptionID = change.id
    guard let subscription = change.saved else { return }
    switch subscription.rule {
    case .query(let rule):
      subscriptionType = "query"
      query = Query(recordType: rule.recordType, filterBy: rule.filters.map(FilterText.init))
      // In the public database `_defaultOwner` is the owner's name.
      zoneID = subscription.database == .public ? rule.zone : rule.zone?.resolved()
      firesOn = RecordQuery.Event.allCases.filter(rule.firesOn.contains)
      firesOnce = rule.firesOnce
    case .zone(let zone, let type):
      (subscriptionType, zoneID, recordType) = ("zone", zone.resolved(), type)
    case .database(let type): (subscriptionType, recordType) = ("database", type)
    }
    urgent = subscription.isUrgent
    notificationInfo = subscription.notification
  }

  private struct Query: Encodable {
    var recordType: String
    var filterBy: [FilterText]
  }
}

private struct FilterText: Encodable {
  private var comparator: RecordQuery.Comparator
  private var fieldName: String?
  private var systemFieldName: String?
  private var fieldValue: FieldValue
  private var distance: Double?

  init(_ filter: RecordQuery.Filter) {
    comparator = filter.comparator
    if case .field(let name) = filter.subject { fieldName = name }
    if case .systemField(let name) = filter.subject { systemFieldName = name }
    fieldValue = filter.value
    distance = filter.distance
  }
}
