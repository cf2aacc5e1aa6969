/// What a round of fetching must bring.
struct FetchPlan: Codable, Hashable, Sendable {
  var databases: Set<UserDatabase> = []
  var zones: Set<ZoneID> = []
  var notifications = false

  static let everything: FetchPlan = {
    var plan = FetchPlan()
    plan.databases = Set(UserDatabase.allCases)
    plan.notifications = true
    return plan
  }()

  init() {}

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
  /// The client stores what the wake names, acknowledges it, and fetches it in the next round.
  case later
}

/// What a round has brought.
public struct FetchReport: Hashable, Sendable {
  /// How many pages were applied.
  public var pages = 0
  /// How many changed or deleted records these pages named.
  public var records = 0
  /// Zones that have changes or are gone.
  public var zones: Set<ZoneID> = []
  /// When zones that must wait may be fetched: call ``ZoneRelayClient/fetchAllChanges(_:)`` then.
  /// nil if no zone waits.
  public var deferredUntil: Double?
  /// True if the wake belonged to another user, and nothing was done.
  public var isIgnored = false
}
