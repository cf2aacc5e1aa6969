/// A subscription that a change fired, and the outcome for each device of the subscription's user.
package struct TracedMatch: Hashable, Sendable {
  package var notification: Identifier
  package var user: Users.Key
  package var subscription: SubscriptionID
  /// The database in which the user sees the zone.
  package var database: Database
  package var zone: ZoneID
  /// The place of the notification in the user's notifications feed.
  package var position: Position
  /// The place of the change in the zone's own feed.
  package var zonePosition: Position
  package var devices: [Device]

  package struct Device: Hashable, Sendable {
    package var client: ClientID
    package var outcome: Outcome
  }

  package enum Outcome: Hashable, Sendable {
    /// The device made the change itself.
    case own
    /// The device is retired.
    case retired
    /// The notification pends on the lane: alone as this part, or merged into this part. `gathers`
    /// is when the lane's open window ends; `nil` if no window is open.
    case pends(TracedPart, gathers: Instant?, instead: Instead = Instead())
  }

  /// The older alerts that will not be shown, because this notification's alert takes their places.
  package struct Instead: Hashable, Sendable {
    /// The older alert with the same key.
    package var replaced: TracedAlert?
    /// The oldest alert, which gave way because too many alerts wait.
    package var crowdedOut: TracedAlert?
    /// The part of the lane where the subject of the alert that gave way goes on pending; `nil` if
    /// that subject is told already, or no wake is sent for it.
    package var left: TracedPart?

    var isAny: Bool { replaced != nil || crowdedOut != nil }
  }
}

/// A part of what pends on a lane.
package enum TracedPart: Hashable, Sendable {
  case zone(ZoneID, Database)
  /// The notifications feed.
  case query
  /// The zones beyond the limit of zones that a lane names.
  case many
  case alert(TracedAlert)
}

/// The alert of one subscription. A change may fire several subscriptions with alerts, and each of
/// these alerts has its own push.
package struct TracedAlert: Hashable, Sendable {
  package var notification: Identifier
  package var subscription: SubscriptionID
}

extension Subjects {
  /// For each subject of `all`, the part of the lane that the subject is. The content of the
  /// notifications feed's subject is not used: after a withdrawal, this content may be
  /// `NotificationContent.neutral`, which does not look like a query.
  var parts: [TracedPart] {
    zones.map(\.zonePart) + query.map { _ in .query } + overflow.map { _ in .many }
  }

  /// Where the change of a waiting alert pends in the background, too; `nil` if it pends in the
  /// alert only.
  func part(of alert: PendingAlert) -> TracedPart? {
    let subject: (Pending, TracedPart)?
    if case .query = alert.content.kind {
      subject = query.first.map { ($0, .query) }
    } else if let index = zoneIndex(of: alert.content) {
      subject = (zones[index], zones[index].zonePart)
    } else {
      subject = overflow.first.map { ($0, .many) }
    }
    return subject.flatMap { pending, part in
      pending.isFresh && pending.freshFrom <= alert.position && alert.position <= pending.position
        ? part : nil
    }
  }
}

extension NotificationContent {
  var alert: TracedAlert { TracedAlert(notification: notification, subscription: subscription) }
}

extension Pending {
  var zonePart: TracedPart { .zone(content.zone, content.database) }
}
