import RelayCore

extension HealthIssue {
  /// The issue as a sentence with its remedy.
  var sentence: String {
    switch self {
    case .restored:
      "a client's token names a history this store never had: it was restored from a copy; "
        + "run `zonerelay expire-tokens`"
    case .storeRefuses(let message): "the store refuses writes: \(message)"
    case .clockAhead(let ahead, let left):
      "the machine's clock is \(ahead.inWords) ahead of the time that the relay knew, and not "
        + "followed for now: nothing is trimmed and no budget refilled for it; if it is wrong, set "
        + "it right (timedatectl), which leaves no trace; if it is right, as after a long stop, "
        + "the relay follows it in \(left.inWords)"
    case .routeStopped(let route, let lastError):
      "\(route.inWords) is stopped: \(lastError ?? "unknown"); check its credential and endpoint"
    case .pushesRefused(let route, let refusals, let lastError):
      "\(route.inWords) has every push refused, \(refusals) or more since the last that was taken: "
        + "\(lastError ?? "unknown"); check that its topic and key are the app's"
    case .pruningStopped(let route, let stop):
      "\(route.inWords) retires no device: \(stop.dead) of the last \(stop.users) users' answers "
        + "called a device dead (\(stop.reason)); check that its endpoint, topic and key are those "
        + "of the app that registers here"
    }
  }
}

extension RouteKey {
  fileprivate var inWords: String {
    "route \(transport.name) \(topic) of \(scope.container) \(scope.environment.name)"
  }
}

extension Span {
  /// The span as text for people, in the largest unit of which it has at least one.
  fileprivate var inWords: String {
    for (name, unit) in [("d", Span.days(1)), ("h", .hours(1)), ("min", .minutes(1))]
    where self >= unit {
      return "\(milliseconds / unit.milliseconds) \(name)"
    }
    return "\(milliseconds / 1_000) s"
  }
}
