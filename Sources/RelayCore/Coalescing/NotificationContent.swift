/// A notification as a push shows it; the payload's `ck` is built from it.
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
  /// newest part was withdrawn (P9).
  var neutral: NotificationContent {
    NotificationContent(
      subscription: subscription, notification: notification, database: database,
      zone: .publicDefault, kind: .database)
  }

  package enum Kind: Hashable, Sendable {
    /// The reason is that of the push's own change; values are the fields that the subscription
    /// names.
    case query(record: String, reason: RecordChange.Verb, values: [Field], isCut: Bool)
    case zone
    case database
  }
}

/// One notification × one device, on its way into a lane.
package struct Match: Hashable, Sendable {
  package var content: NotificationContent
  /// The position of the notification's entry in the user's notifications feed.
  package var position: Position
  /// The zone's position in the zone's own feed (another partition's, for a shared zone).
  package var zonePosition: Position
  /// Nil: the match wakes in the background. Else it is shown to a person, one push for each key.
  package var alert: AlertKey?
  /// Whether the push must run the app. An alert does so only if its subscription asks for
  /// content-available.
  package var runsApp: Bool
  /// The alert's appearance, if the subscription cannot give it when the alert is shown.
  package var look: NotificationInfo?
  /// True if the change is hot and the lane has a slot.
  package var isHot: Bool
  /// True if the subscription is marked urgent.
  package var isUrgent: Bool

  package init(
    content: NotificationContent, position: Position, zonePosition: Position,
    alert: AlertKey? = nil,
    runsApp: Bool = true, look: NotificationInfo? = nil, isHot: Bool = false,
    isUrgent: Bool = false
  ) {
    self.content = content
    self.position = position
    self.zonePosition = zonePosition
    self.alert = alert
    self.runsApp = runsApp
    self.look = look
    self.isHot = isHot
    self.isUrgent = isUrgent
  }

  /// True for an alert that a person sees and that does not run the app. Every wake names its
  /// subject, and so the subject needs no wake of its own.
  var isQuiet: Bool { alert != nil && !runsApp }
}

/// The identity of an alert: the subscription, and its collapse value or the record (or zone).
package struct AlertKey: Hashable, Sendable {
  package var subscription: SubscriptionID
  package var database: Database
  package var subject: String
  /// The value of `apns-collapse-id`; nil if the subscription collapses nothing.
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
