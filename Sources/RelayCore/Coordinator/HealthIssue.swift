/// A reason why the relay is not healthy, which needs an operator.
package enum HealthIssue: Hashable, Sendable {
  /// A client's token names a history that this store never had.
  case restored
  /// The store refused its last write, with this message.
  case storeRefuses(String)
  /// The wall clock is ahead of the relay's time, which follows it only after `believedIn`.
  case clockAhead(Span, believedIn: Span)
  /// The circuit of the route is not closed.
  case routeStopped(RouteKey, lastError: String?)
  /// The provider refused the last pushes permanently: this many, or more.
  case pushesRefused(RouteKey, Int, lastError: String?)
  /// The route retires no device, for this reason.
  case pruningStopped(RouteKey, Pruning.Stop)
}

extension Coordinator {
  /// The reasons that the coordinator knows. The reasons of routes come last, in the order of the
  /// routes' keys.
  ///
  /// - Parameter census: the census of this moment.
  package func healthIssues(_ census: Census) -> [HealthIssue] {
    var issues: [HealthIssue] = census.isRestoreProven ? [.restored] : []
    if let message = counters.storeTrouble { issues.append(.storeRefuses(message)) }
    if let doubt = clock.doubt, let left = clock.believedIn {
      issues.append(.clockAhead(doubt.ahead, believedIn: left))
    }
    for (key, route) in routesInOrder where isListed(key) { issues += route.issues(of: key) }
    return issues
  }
}

extension Route {
  fileprivate func issues(of key: RouteKey) -> [HealthIssue] {
    var issues: [HealthIssue] = isStopped ? [.routeStopped(key, lastError: lastError)] : []
    if refusals >= Self.refusalsTold {
      issues.append(.pushesRefused(key, refusals, lastError: lastError))
    }
    if let stop = pruning.stop { issues.append(.pruningStopped(key, stop)) }
    return issues
  }
}
