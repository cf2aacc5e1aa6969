/// What a round of fetching must bring.
struct FetchPlan: Codable, Hashable, Sendable {
  var databases: Set<UserDatabase> = []
  var zones: Set<ZoneID> = []
  var notifications = false

  /// What a wake asks for that names not everything.
  static let everything: FetchPlan = {
    var plan = FetchPlan()
    plan.databases = Set(UserDatabase.allCases)
    plan.notifications = true
    return plan
  }()

  init() {}

  /// What the app asks for.
  init(_ scope: Scope) {
    switch scope {
    case .everything: self = .everything
    case .database(let database): databases = [database]
    case .zone(let zone): zones = [zone]
    case .notifications: notifications = true
    }
  }

  mutating func add(_ other: FetchPlan) {
    databases.formUnion(other.databases)
    zones.formUnion(other.zones)
    notifications = notifications || other.notifications
  }
}

/// What ``ZoneRelayClient/fetchAllChanges(_:)`` fetches.
public enum Scope: Hashable, Sendable {
  /// Both databases with all their zones, and the notifications.
  case everything
  case database(UserDatabase)
  case zone(ZoneID)
  case notifications
}

/// When ``ZoneRelayClient/handle(_:_:)`` fetches.
public enum FetchTime: Hashable, Sendable {
  case now
  /// The client stores what the wake names and acknowledges the wake. The next round fetches it.
  case later
}
