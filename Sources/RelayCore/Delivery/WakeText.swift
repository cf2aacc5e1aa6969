/// What one wake says, before it is cut to size: `aps` and `ck` for the notification it shows,
/// `zr` for everything pending, because a provider keeps only the newest push.
package struct WakeText: Hashable, Sendable {
  package var scope: Scope
  package var user: UserID
  package var wake: UInt32
  package var notice: NotificationContent
  /// Nil: a silent, background wake.
  package var info: NotificationInfo?
  /// Subjects not yet acknowledged.
  package var subjects: Int
  /// Zones among them, those to be named first at the front.
  package var zones: [NamedZone]
  package var hasQuery: Bool
  /// There is more than `zones` can say.
  package var isMore: Bool
  /// The user's counter for this topic, if the notification shows it.
  package var badge: Int?
  /// What waits among all this is not to be fetched before then; nil: nothing waits.
  package var notBefore: Instant?

  package init(
    scope: Scope, user: UserID, wake: UInt32, notice: NotificationContent, info: NotificationInfo?,
    subjects: Int, zones: [NamedZone], hasQuery: Bool, isMore: Bool, badge: Int? = nil,
    notBefore: Instant? = nil
  ) {
    self.scope = scope
    self.user = user
    self.wake = wake
    self.notice = notice
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
    /// It is hot, and not to be fetched before `notBefore`.
    package var waits: Bool

    package init(zone: ZoneID, database: Database, waits: Bool = false) {
      self.zone = zone
      self.database = database
      self.waits = waits
    }
  }
}

/// A payload of at most the allowed size, and how much of the wake it had room for.
package struct Payload: Hashable, Sendable {
  package var bytes: [UInt8]
  /// The first so many of the wake's zones are named in it.
  package var zonesNamed: Int
  package var isPruned: Bool
  /// A person sees or hears something of it; else it only runs the app.
  package var isVisible = false
}
