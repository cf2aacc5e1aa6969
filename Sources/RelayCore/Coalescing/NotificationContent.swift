/// A notification as a push shows it. The payload's `ck` is built from this value.
package struct NotificationContent: Hashable, Sendable {
  package var subscription: SubscriptionID
  package var notification: Identifier
  package var database: Database
  package var zone: ZoneID
  package var kind: Kind

  package init(
    subscription: SubscriptionID, notification: Identifier, database: Database, zone: ZoneID,
    kind: Kind
  ) {
    self.subscription = subscription
    self.notification = notification
    self.database = database
    self.zone = zone
    self.kind = kind
  }

  func isLike(_ other: NotificationContent) -> Bool {
    (subscription, database, zone) == (other.subscription, other.database, other.zone)
  }

  /// This notification without the names of zone and record. This form is shown for a subject whose
  /// newest notification was withdrawn (P9).
  var neutral: NotificationContent {
    NotificationContent(
      subscription: subscription, notification: notification, database: database,
      zone: .publicDefault, kind: .database)
  }

  package enum Kind: Hashable, Sendable {
    /// `reason` is what happened to the record in the change shown. `values` has the fields that
    /// the subscription names, and `isCut` says whether some values did not fit.
    case query(record: String, reason: RecordChange.Verb, values: [Field], isCut: Bool)
    case zone
    case database
  }
}

/// One notification for one device, before it is added to the device's lane.
package struct Match: Hashable, Sendable {
  package var content: NotificationContent
  /// The position of the notification's entry in the user's notifications feed.
  package var position: Position
  /// The position of the change in the zone's own feed. For a shared zone, another partition may
  /// keep that feed.
  package var zonePosition: Position
  /// The key of the alert that a person is shown; each key has a push of its own. `nil` means that
  /// the match wakes the device in the background.
  package var alert: AlertKey?
  /// Whether the push must run the app. The push of an alert runs the app only if the alert's
  /// subscription asks for content-available.
  package var runsApp = true
  /// The alert's appearance, if the subscription cannot give it when the alert is shown.
  package var look: NotificationInfo?
  /// True if the change is hot and the lane has a slot.
  package var isHot = false
  /// True if the subscription is marked urgent.
  package var isUrgent = false

  /// True for an alert that a person sees and that does not run the app. Every wake names the
  /// alert's subject, so the subject needs no background wake of its own.
  var isQuiet: Bool { alert != nil && !runsApp }
}

/// The identity of an alert: the subscription, and the alert's collapse value, record or zone.
package struct AlertKey: Hashable, Sendable {
  package var subscription: SubscriptionID
  package var database: Database
  package var subject: String
  /// The value of `apns-collapse-id`; `nil` if the push has no such id.
  package var collapse: String?

  package init(
    subscription: SubscriptionID, database: Database, subject: String, collapse: String?
  ) {
    self.subscription = subscription
    self.database = database
    self.subject = subject
    self.collapse = collapse
  }

  package static func == (left: AlertKey, right: AlertKey) -> Bool {
    left.subscription == right.subscription && left.database == right.database
      && ByteOrdered.areSame(left.subject, right.subject)
      && ByteOrdered.areSame(left.collapse, right.collapse)
  }
}

extension NotificationContent {
  /// The content of the notification that a subscription fires for a change.
  init(
    _ change: Change, _ subscription: Subscription, _ database: Database, isCut: Bool,
    limits: Limits
  ) {
    self.init(
      subscription: subscription.id, notification: change.notification, database: database,
      zone: change.zone, kind: .zone)
    switch subscription.rule {
    case .zone: kind = .zone
    case .database: kind = .database
    case .query:
      guard case .record(let record) = change.event else { return }
      let shown = subscription.info.values(of: record, limits: limits)
      kind = .query(
        record: record.name, reason: record.verb, values: shown.values,
        isCut: isCut || shown.isCut)
    }
  }

  var subject: Subject {
    if case .query(let record, _, _, _) = kind {
      return .notification(subscription, zone: zone, record: record)
    }
    return .notification(subscription, zone: zone, record: nil)
  }

  var detail: NotificationDetail {
    let kind: NotificationDetail.Kind =
      switch self.kind {
      case .query: .query
      case .zone: .zone
      case .database: .database
      }
    return NotificationDetail(kind: kind, database: database, notification: notification)
  }

  /// The verb of the notification's entry: the record's verb for a query subscription, and the
  /// zone's verb for a zone or database subscription.
  func verb(of change: Change) -> FeedMutation.Verb {
    if case .query(_, let reason, _, _) = kind { return reason.feedVerb }
    return change.zoneVerb
  }
}

extension Subscription {
  /// The key of the change's visible alert; a pending alert with the same key is replaced. `nil`
  /// means that the subscription shows no alert, so its notifications wake the app in the
  /// background.
  func alertKey(for change: Change, limits: Limits) -> AlertKey? {
    guard info.isVisible else { return nil }
    var subject = change.zone.owner.name + "/" + change.zone.name
    var collapse: String?
    if case .record(let record) = change.event, case .query = rule {
      subject += "/" + record.name
      if let key = info.collapseKey,
        case .string(let value)? = record.value(of: key)
      {
        // Each pending alert keeps this value. Of a long value the beginning is enough to tell
        // alerts apart.
        let start =
          value.utf8.count <= limits.valueBytesPerNotification
          ? value
          : String(decoding: value.utf8.prefix(limits.valueBytesPerNotification), as: UTF8.self)
        collapse = start
        subject = start
      }
    }
    return AlertKey(
      subscription: id, database: database, subject: subject, collapse: collapse)
  }
}
