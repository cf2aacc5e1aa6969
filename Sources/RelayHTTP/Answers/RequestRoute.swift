import HTTPTypes
import RelayCore

/// The endpoint to which a request's path leads.
enum RequestRoute: Hashable, Sendable {
  case live
  case ready
  case device(Scope, DeviceEndpoint)
  case database(Scope, Database, DatabaseEndpoint)
  case events(Scope)
  /// The courier, with the token in the courier address.
  case courier(String)

  enum DeviceEndpoint: String, CaseIterable, Hashable, Sendable {
    case create = "tokens/create"
    case register = "tokens/register"
    case unregister = "tokens/unregister"
    case list = "tokens/list"
    case notifications = "notifications/changes"
    case markRead = "notifications/markRead"
    case badge = "badge/modify"
    case acknowledge = "wakes/acknowledge"

    /// True if the endpoint changes durable state. A user may write only a limited number of times
    /// a minute.
    var writes: Bool {
      switch self {
      case .create, .register, .unregister, .markRead, .badge: true
      case .list, .notifications, .acknowledge: false
      }
    }
  }

  enum DatabaseEndpoint: String, CaseIterable, Hashable, Sendable {
    case subscriptionsModify = "subscriptions/modify"
    case subscriptionsList = "subscriptions/list"
    case subscriptionsLookup = "subscriptions/lookup"
    case zonesList = "zones/list"
    case zonesLookup = "zones/lookup"
    case changesDatabase = "changes/database"
    case changesZone = "changes/zone"
    /// `zones/changes` and `records/changes` are the older forms of `changes/database` and
    /// `changes/zone`.
    case zonesChanges = "zones/changes"
    case recordsChanges = "records/changes"

    /// True if the endpoint changes durable state. A user may write only a limited number of times
    /// a minute.
    var writes: Bool { self == .subscriptionsModify }
  }

  /// Returns `nil` if no endpoint has this path. Does not check whether the container is
  /// configured.
  init?(path: String) {
    var parts: [String] = []
    for part in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .dropFirst()
    {
      guard let text = PercentText.decoded(Substring(part)), !text.isEmpty else { return nil }
      parts.append(text)
    }
    guard parts.count > 1 else { return nil }
    let isFirst = Spelled(parts[1]) == "1"
    switch (Spelled(parts[0]), parts.count) {
    case ("health", 2) where Spelled(parts[1]) == "live": self = .live
    case ("health", 2) where Spelled(parts[1]) == "ready": self = .ready
    case ("courier", 3) where isFirst: self = .courier(parts[2])
    case ("events", 4) where isFirst:
      guard let scope = Self.scope(parts) else { return nil }
      self = .events(scope)
    case ("device", 6) where isFirst:
      guard let scope = Self.scope(parts),
        let endpoint = DeviceEndpoint(spelled: "\(parts[4])/\(parts[5])")
      else { return nil }
      self = .device(scope, endpoint)
    case ("database", 7) where isFirst:
      guard let scope = Self.scope(parts), let database = Database(name: parts[4]),
        let endpoint = DatabaseEndpoint(spelled: "\(parts[5])/\(parts[6])")
      else { return nil }
      self = .database(scope, database, endpoint)
    default: return nil
    }
  }

  private static func scope(_ parts: [String]) -> Scope? {
    // No container has a name of more than 255 bytes.
    guard parts[2].utf8.count <= 255 else { return nil }
    return Environment(name: parts[3]).map { Scope(container: parts[2], environment: $0) }
  }

  var scope: Scope? {
    switch self {
    case .live, .ready, .courier: nil
    case .device(let scope, _), .database(let scope, _, _), .events(let scope): scope
    }
  }

  var methods: [HTTPRequest.Method] {
    switch self {
    case .live, .ready: [.get, .head]
    case .courier: [.get]
    case .device(_, .list), .database(_, _, .subscriptionsList), .database(_, _, .zonesList):
      [.get, .post]
    case .device, .database, .events: [.post]
    }
  }
}
