/// The content of one wake, before it is cut to size: `aps` and `ck` for the notification that the
/// wake shows, and `zr` for everything pending, because a provider keeps only the newest push.
package struct WakeText: Hashable, Sendable {
  package var scope: Scope
  package var user: UserID
  package var wake: UInt32
  package var content: NotificationContent
  /// The alert's appearance. `nil` means that the wake is silent and in the background.
  package var info: NotificationInfo?
  /// The number of subjects that the device has not acknowledged yet.
  package var subjects: Int
  /// The zones among the subjects, in the order in which the payload names them.
  package var zones: [NamedZone]
  package var hasQuery: Bool
  /// Whether something pends that neither `zones` nor `hasQuery` states.
  package var isMore: Bool
  /// The user's counter for this topic, if the notification shows it.
  package var badge: Int?
  /// The time before which the device must not fetch the zones that wait; `nil` if no zone waits.
  package var notBefore: Instant?

  package init(
    scope: Scope, user: UserID, wake: UInt32, content: NotificationContent, info: NotificationInfo?,
    subjects: Int, zones: [NamedZone], hasQuery: Bool, isMore: Bool, badge: Int? = nil,
    notBefore: Instant? = nil
  ) {
    self.scope = scope
    self.user = user
    self.wake = wake
    self.content = content
    self.info = info
    self.subjects = subjects
    self.zones = zones
    self.hasQuery = hasQuery
    self.isMore = isMore
    self.badge = badge
    self.notBefore = notBefore
  }

  package struct NamedZone: Hashable, Sendable {
    package var zone: ZoneID
    package var database: Database
    /// Whether the zone is hot, so that the device must not fetch it before `notBefore`.
    package var waits: Bool

    package init(zone: ZoneID, database: Database, waits: Bool = false) {
      (self.zone, self.database, self.waits) = (zone, database, waits)
    }
  }
}

/// A payload within the limit, and how much of the wake's content it has.
package struct Payload: Hashable, Sendable {
  package var bytes: [UInt8]
  /// How many of the wake's zones the payload names: the first ones.
  package var zonesNamed: Int
  package var isPruned: Bool
  /// Whether a person sees or hears the push; otherwise the push only runs the app.
  package var isVisible = false
}
