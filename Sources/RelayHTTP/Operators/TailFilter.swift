import RelayCore
import RelayEngine

/// Which entries an operator follows: those that name every device, user, zone and route that is
/// set here, in the container and environment that are set. If nothing is set, every entry is
/// shown.
struct TailFilter: Sendable {
  var client: ClientID?
  var user: String?
  var zone: TraceSearch.Question.Zone?
  /// A transport, or a transport and a topic as `apns/com.example.notes`.
  var route: String?
  var container: String?
  var environment: RelayCore.Environment?

  func shows(_ entry: TraceEntry) -> Bool {
    switch entry.event {
    // These two entries are always shown. Each marks a place where other entries may be missing,
    // and the operator may look for a missing entry.
    case .began, .lost: return true
    case .change(let change):
      return isOf(change.scope) && client == nil && route == nil
        && (isOf(change.author?.user) || isOf(change.zone.owner)) && isOf(change.zone)
    case .moved(let move):
      return isOf(move.scope) && client == nil && user == nil && zone == nil && route == nil
    case .matched(let match):
      return isOf(match.user.scope) && route == nil && isOf(match.user.user) && isOf(match.zone)
        && client.map { client in match.devices.contains { $0.client == client } } ?? true
    case .device(let key, let event):
      return isOf(key.scope) && isOf(key.user) && client.map { $0 == key.client } ?? true
        && (zone == nil || event.zones.contains { isOf($0) })
        && event.route.map { isOf($0) } ?? (route == nil)
    case .user(let key, let event):
      return isOf(key.scope) && client == nil && route == nil && isOf(key.user)
        && event.zone.map { isOf($0) } ?? (zone == nil)
    case .route(let key, _):
      return isOf(key.scope) && client == nil && user == nil && zone == nil
        && isOf((key.transport, key.topic))
    }
  }

  private func isOf(_ scope: Scope) -> Bool {
    container.map { ByteOrdered.areSame($0, scope.container) } ?? true
      && environment.map { $0 == scope.environment } ?? true
  }

  private func isOf(_ user: UserID?) -> Bool {
    self.user.map { name in user.map { ByteOrdered.areSame(name, $0.name) } ?? false } ?? true
  }

  private func isOf(_ zone: ZoneID) -> Bool {
    self.zone.map { wanted in
      ByteOrdered.areSame(wanted.name, zone.name) && wanted.owner.map { $0 == zone.owner } ?? true
    } ?? true
  }

  private func isOf(_ route: (Transport, String)) -> Bool {
    self.route.map { wanted in
      ByteOrdered.areSame(wanted, route.0.name)
        || ByteOrdered.areSame(wanted, "\(route.0.name)/\(route.1)")
    } ?? true
  }
}

extension DeviceEvent {
  /// The zones that the event names.
  fileprivate var zones: [ZoneID] {
    switch self {
    case .wake(let wake):
      return wake.names.compactMap { if case .zone(let zone, _) = $0 { zone } else { nil } }
    case .receipt(.acknowledged(.zone(let zone, _, _, _))): return [zone]
    case .receipt(.acknowledged(.listed(let zones, _))): return zones
    case .withdrawn(.zone(let zone, _)): return [zone]
    case .registered, .unregistered, .retired, .waits, .waitsForConnection, .ended, .receipt,
      .withdrawn, .hushed:
      return []
    }
  }

  fileprivate var route: (Transport, String)? {
    switch self {
    case .wake(let wake): (wake.transport, wake.topic)
    case .registered(let transport, let topic, _, _): (transport, topic)
    case .unregistered, .retired, .waits, .waitsForConnection, .ended, .receipt, .withdrawn,
      .hushed:
      nil
    }
  }
}

extension UserEvent {
  fileprivate var zone: ZoneID? {
    switch self {
    case .joined(let zone, _), .left(let zone, _): zone
    case .subscribed, .unsubscribed: nil
    }
  }
}
