import RelayCore

/// A change as it came to one partition, with the users and devices there that it concerned.
/// `Model` makes this value.
struct SeenChange {
  var change: Change
  var partition: PartitionID
  var ordinal: Ordinal
  /// The place of the change in its zone's own feed.
  var zonePosition: Position
  var isSuperseded = false
  /// The users with a subscription for this database, zone and record type, whatever its filters.
  var covered: Set<UserID>
  /// The users with whom the zone was shared before the fact.
  var members: Set<UserID>
  /// The partitions of the participants to whom the home had to send the change.
  var partitions: Set<PartitionID>
  /// The subscriptions that fired, in the order in which they were saved.
  var fired: [UserID: [Fired]] = [:]
  /// The devices that were registered, each with what was known of its retirement.
  var devices: [DeviceKey: Retiring] = [:]
  /// Whether the change went on in slices, or no life of the daemon had stepped the change.
  var isUnclear = false

  struct Fired {
    var notification: Identifier
    var subscription: SubscriptionID
    var database: Database
    var zone: ZoneID
    var record: String?
    /// What a push must show; `nil` if the subscription shows no alert.
    var alert: String?
    var runsApp: Bool
    var position: Position
    var zonePosition: Position
    /// Whether a slice of a fan-out may have fired the subscription later than the world noted it.
    var isLate = false
  }

  /// What the world knows of a device's retirement.
  enum Retiring {
    case no
    /// The provider has reported the device as dead; the relay may believe the report, now or
    /// later.
    case maybe
    case yes
  }

  init(_ change: Change, _ row: JournalEntry, zonePosition: Position, _ model: Model) {
    self.change = change
    partition = row.partition
    ordinal = row.ordinal
    self.zonePosition = zonePosition
    covered = Set(
      model.subscriptions.filter { user, all in
        all.contains { $0.ordinal < row.ordinal && $0.subscription.covers(change, for: user) }
      }.map(\.key))
    members = Set(model.shared.filter { $0.value.contains(change.zone) }.map(\.key))
    var grants = model.zones[change.zone]?.grants ?? []
    if case .revoked(let user) = change.event { grants = grants.intersection([user]) }
    if case .granted(let user) = change.event { grants = [user] }
    partitions = Set(grants.map { .home(of: $0, in: change.scope) })
  }

  mutating func fire(_ subscription: Subscription, of user: UserID, _ database: Database) {
    var record: String?
    if case .record(let what) = change.event, case .query = subscription.rule { record = what.name }
    let shown = PushText.ZoneRef(zone: change.zone, database: database)
    let number = fired[user]?.count ?? 0
    fired[user, default: []].append(
      Fired(
        notification: change.notification, subscription: subscription.id, database: database,
        zone: change.zone, record: record,
        alert: subscription.info.isVisible
          ? WorldObserver.alert(subscription.id.name, shown, record) : nil,
        runsApp: subscription.info.runsApp, position: Position(ordinal, index: number),
        zonePosition: zonePosition))
  }
}

extension Subscription {
  /// Whether the subscription is for changes of this database, zone and record type, as its user
  /// sees them; filters are not compared.
  fileprivate func covers(_ change: Change, for user: UserID) -> Bool {
    let seen: Database =
      change.database == .public ? .public : change.zone.owner == user ? .private : .shared
    guard database == seen else { return false }
    var type: String?
    if case .record(let record) = change.event { type = record.type }
    switch rule {
    case .query(let query): return type == query.recordType
    case .zone(let zone, _): return zone == change.zone
    case .database: return !change.zone.isDefault
    }
  }
}
