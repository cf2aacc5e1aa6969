/// What happens to one subscription.
enum SubscriptionChange {
  case save(Subscription)
  case delete(String, Subscription.Database)

  var database: Subscription.Database {
    switch self {
    case .save(let subscription): subscription.database
    case .delete(_, let database): database
    }
  }

  var id: String {
    switch self {
    case .save(let subscription): subscription.id
    case .delete(let id, _): id
    }
  }
}

/// `subscriptions/modify`.
struct SubscriptionsQuestion: Encodable {
  private var operations: [Operation]

  init(_ changes: [SubscriptionChange]) {
    operations = changes.map {
      switch $0 {
      case .save(let subscription):
        Operation(operationType: "update", subscription: SubscriptionText(subscription))
      case .delete(let id, _):
        Operation(operationType: "delete", subscription: SubscriptionText(id))
      }
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
  private var notificationInfo: Info?

  init(_ id: String) { subscriptionID = id }

  init(_ subscription: Subscription) {
    subscriptionID = subscription.id
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
    notificationInfo = Info(of: subscription)
  }

  private struct Query: Encodable {
    var recordType: String
    var filterBy: [FilterText]
  }

  /// The members of `NotificationInfo`, and those that only query subscriptions have.
  private struct Info: Encodable {
    private enum CodingKeys: String, CodingKey { case additionalFields, collapseIDKey }
    private let subscription: Subscription

    init(of subscription: Subscription) { self.subscription = subscription }

    func encode(to encoder: any Encoder) throws {
      try subscription.notification.encode(to: encoder)
      var members = encoder.container(keyedBy: CodingKeys.self)
      if !subscription.additionalFields.isEmpty {
        try members.encode(subscription.additionalFields, forKey: .additionalFields)
      }
      try members.encodeIfPresent(subscription.collapseIDKey, forKey: .collapseIDKey)
    }
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
    switch filter.subject {
    case .field(let name): fieldName = name
    case .systemField(let name): systemFieldName = name
    case .wholeRecord: break
    }
    fieldValue = filter.value
    distance = filter.distance
  }
}
