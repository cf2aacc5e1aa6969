/// Pushes without a verdict, and the routes that have a sender.
struct PushesInFlight: Sendable {
  private var routes: Set<RouteKey>
  private var attempts: Set<PushAttempt.ID> = []

  init(routes: Set<RouteKey>) { self.routes = routes }

  var isEmpty: Bool { attempts.isEmpty }

  func contains(_ attempt: PushAttempt.ID) -> Bool { attempts.contains(attempt) }

  /// - Returns: false if the attempt cannot begin: its route has no sender, because the route's
  ///   environment or provider was removed from the configuration.
  mutating func add(_ attempt: PushAttempt) -> Bool {
    guard attempt.route.transport == .courier || routes.contains(attempt.route) else {
      return false
    }
    attempts.insert(attempt.id)
    return true
  }

  mutating func ended(_ attempt: PushAttempt.ID) { attempts.remove(attempt) }

  mutating func reconfigured(started: Set<RouteKey>, ended: Set<RouteKey>) {
    routes.subtract(ended)
    routes.formUnion(started)
  }
}
