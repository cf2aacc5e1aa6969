import RelayCore

extension EngineLoop {
  mutating func vitals() -> Vitals {
    let (now, counters) = (coordinator.now, coordinator.counters)
    var vitals = coordinator.vitals(at: now)
    let readiness = inbox.readiness
    vitals.isReady = readiness.isReady
    vitals.reasons += readiness.reasons
    vitals.uptime = Double((outside.clock.boot() - startedAt).milliseconds) / 1_000
    vitals.changes = counters.changes
    vitals.addUnused(outside.senders.keys)
    for index in vitals.routes.indices {
      guard let sender = outside.senders[vitals.routes[index].key] else { continue }
      vitals.routes[index].sender = sender.vitals
    }
    vitals.feedback = counters.feedback.sorted { $0.key < $1.key }.map { scope, items in
      var feedback = Vitals.Feedback(scope: scope)
      (feedback.retired, feedback.silent) = (items.retired, items.silent)
      feedback.returned = items.returned
      return feedback
    }
    vitals.courierConnections = outside.courier?.count ?? 0
    vitals.store.journalTail = counters.unfolded
    (vitals.store.folds, vitals.store.feedRows) = (counters.folds, counters.feedRows)
    if counters.unfolded > 0, counters.lastFold > .zero {
      vitals.store.foldLag = Double((now - counters.lastFold).milliseconds) / 1_000
    }
    if let trouble = counters.storeTrouble {
      vitals.reasons.append("the store refuses writes: \(trouble)")
    }
    if let trouble = clockTrouble { vitals.reasons.append(trouble) }
    if !vitals.ledger.isBalanced {
      vitals.reasons.append("the ledger does not balance: please report it with this status")
    }
    for route in vitals.routes where route.circuit != "closed" {
      vitals.reasons.append(
        "route \(route.key.transport.name) \(route.key.topic) of \(route.key.scope.container) "
          + "\(route.key.scope.environment.name) is stopped: \(route.lastError ?? "unknown"); "
          + "check its credential and endpoint")
    }
    for route in vitals.routes where route.refusals >= Route.refusalsTold {
      vitals.reasons.append(
        "route \(route.key.transport.name) \(route.key.topic) of \(route.key.scope.container) "
          + "\(route.key.scope.environment.name) has every push refused, "
          + "\(route.refusals) or more since the last that was taken: "
          + "\(route.lastError ?? "unknown"); check that its topic and key are the app's")
    }
    for route in vitals.routes {
      guard let stop = route.pruningStop else { continue }
      vitals.reasons.append(
        "route \(route.key.transport.name) \(route.key.topic) of \(route.key.scope.container) "
          + "\(route.key.scope.environment.name) retires no device: \(stop); check that its "
          + "endpoint, topic and key are those of the app that registers here")
    }
    return vitals
  }

  /// Why people should look at the machine's clock.
  private var clockTrouble: String? {
    guard let doubt = coordinator.clockDoubt else { return nil }
    return "the machine's clock is \(doubt.ahead.inWords) ahead of the time that the relay knew, "
      + "and not followed for now: nothing is trimmed and no budget refilled for it; if it is "
      + "wrong, set it right (timedatectl), which leaves no trace; if it is right, as after a long "
      + "stop, the relay follows it in \(doubt.believedIn.inWords)"
  }
}

extension Span {
  /// For people: in the largest unit of which there is at least one.
  fileprivate var inWords: String {
    for (name, unit) in [("d", Span.days(1)), ("h", .hours(1)), ("min", .minutes(1))]
    where self >= unit {
      return "\(milliseconds / unit.milliseconds) \(name)"
    }
    return "\(milliseconds / 1_000) s"
  }
}

extension Vitals {
  /// The core makes a route when a lane first waits at it; people see it from the start.
  fileprivate mutating func addUnused(_ keys: some Sequence<RouteKey>) {
    let known = Set(routes.map(\.key))
    for key in keys where !known.contains(key) {
      routes.append(
        Route(key: key, circuit: "closed", inFlight: 0, sent: 0, delivered: 0, lastError: nil))
    }
    routes.sort { $0.key < $1.key }
  }
}

extension Coordinator {
  fileprivate mutating func vitals(at now: Instant) -> Vitals {
    var vitals = Vitals()
    vitals.ledger = ledger
    for (key, route) in routesInOrder {
      let circuit =
        switch route.circuit {
        case .closed: "closed"
        case .open: "open"
        case .probing: "probing"
        }
      var item = Vitals.Route(
        key: key, circuit: circuit, inFlight: route.inFlight, sent: route.sent,
        delivered: route.delivered, lastError: route.lastError)
      item.pruningStop = route.pruning.stop.map {
        "\($0.dead) of the last \($0.users) users' answers called a device dead (\($0.reason))"
      }
      item.refusals = route.refusals
      vitals.routes.append(item)
    }
    let census = census(at: now)
    vitals.lanes.idle = census.idle
    vitals.lanes.gathering = census.gathering
    vitals.lanes.due = census.due
    vitals.lanes.inFlight = census.inFlight
    vitals.lanes.resting = census.resting
    vitals.lanes.watching = census.watching
    vitals.lanes.retired = census.retired
    if census.isRestoreProven {
      vitals.reasons.append(
        "a client's token names a history this store never had: it was restored from a copy; "
          + "run `zonerelay expire-tokens`")
    }
    (vitals.smearing.waiting, vitals.smearing.hurried) = (census.smeared, census.hurried)
    vitals.zonesWithGap = census.zonesWithGap
    vitals.remembered.ids = census.remembered
    vitals.remembered.oldestAge = Self.age(of: census.oldestRemembered, at: now)
    vitals.fanOuts.running = census.fanOuts
    vitals.fanOuts.oldestAge = Self.age(of: census.oldestFanOut, at: now)
    vitals.oldestPendingAge = Self.age(of: census.oldestPending, at: now)
    return vitals
  }

  private static func age(of instant: Instant?, at now: Instant) -> Double {
    instant.map { Double((now - $0).milliseconds) / 1_000 } ?? 0
  }
}
