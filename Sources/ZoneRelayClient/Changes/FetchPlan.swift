/// What a round of fetching must bring.
struct FetchPlan: Codable, Hashable, Sendable {
  var databases: Set<UserDatabase> = []
  var zones: Set<ZoneID> = []
  var notifications = false

  /// Both databases with all their zones, and the notifications: what a user's first round must
  /// bring, or the round after a wake that does not name everything.
  static let everything = FetchPlan(databases: Set(UserDatabase.allCases), notifications: true)

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
  /// The client stores what the wake names and acknowledges the wake. The next round fetches what
  /// the wake names.
  case later
}
