import RelayCore

extension EngineLoop {
  mutating func health() -> HealthSnapshot {
    let (now, counters) = (coordinator.now, coordinator.counters)
    var health = coordinator.health(at: now)
    let readiness = inbox.readiness
    health.isReady = readiness.isReady
    health.reasons += readiness.reasons
    health.uptime = Double((dependencies.clock.boot() - startedAt).milliseconds) / 1_000
    health.changes = counters.changes
    health.add(senderGroup.health, configured: dependencies.senders.keys)
    health.feedback = counters.feedback.sorted { $0.key < $1.key }.map { scope, items in
      var feedback = HealthSnapshot.Feedback(scope: scope)
      (feedback.retired, feedback.silent) = (items.retired, items.silent)
      feedback.returned = items.returned
      return feedback
    }
    health.courierConnections = dependencies.courier?.count ?? 0
    health.store.journalTail = counters.unfolded
    (health.store.folds, health.store.feedRows) = (counters.folds, counters.feedRows)
    if counters.unfolded > 0, counters.lastFold > .zero {
      health.store.foldLag = Double((now - counters.lastFold).milliseconds) / 1_000
    }
    if let trouble = counters.storeTrouble {
      health.reasons.append("the store refuses writes: \(trouble)")
    }
    if let trouble = clockTrouble { health.reasons.append(trouble) }
    if let recorder = dependencies.trace?.recorder { health.recorder = recorder.health }
    if let trouble = health.recorder.trouble { health.reasons.append(trouble) }
    for route in health.routes where route.circuit != "closed" {
      health.reasons.append(
        "route \(route.key.transport.name) \(route.key.topic) of \(route.key.scope.container) "
          + "\(route.key.scope.environment.name) is stopped: \(route.lastError ?? "unknown"); "
          + "check its credential and endpoint")
    }
    for route in health.routes where route.refusals >= Route.refusalsTold {
      health.reasons.append(
        "route \(route.key.transport.name) \(route.key.topic) of \(route.key.scope.container) "
          + "\(route.key.scope.environment.name) has every push refused, "
          + "\(route.refusals) or more since the last that was taken: "
          + "\(route.lastError ?? "unknown"); check that its topic and key are the app's")
    }
    for route in health.routes {
      guard let stop = route.pruningStop else { continue }
      health.reasons.append(
        "route \(route.key.transport.name) \(route.key.topic) of \(route.key.scope.container) "
          + "\(route.key.scope.environment.name) retires no device: \(stop); check that its "
          + "endpoint, topic and key are those of the app that registers here")
    }
    return health
  }

  /// What the relay knows of these devices, and how many entries the flight recorder has taken,
  /// both at the same moment.
  func standings(of devices: [DeviceKey], _ zones: [ZoneID]) -> Standings {
    Standings(
      devices: coordinator.standings(of: devices, zones: zones),
      place: dependencies.trace?.recorder?.place ?? 0)
  }

  /// Why an operator should check the machine's clock; nil if there is no reason.
  private var clockTrouble: String? {
    guard let doubt = coordinator.clockDoubt else { return nil }
    return "the machine's clock is \(doubt.ahead.inWords) ahead of the time that the relay knew, "
      + "and not followed for now: nothing is trimmed and no budget refilled for it; if it is "
      + "wrong, set it right (timedatectl), which leaves no trace; if it is right, as after a long "
      + "stop, the relay follows it in \(doubt.believedIn.inWords)"
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

extension HealthSnapshot {
  /// Adds what the senders of each route have counted, and the routes without pushes: the core
  /// makes a route only when a lane first waits for it, but the status shows every configured route
  /// from the start.
  fileprivate mutating func add(
    _ senders: [RouteKey: SenderHealth], configured: some Collection<RouteKey>
  ) {
    let (known, configured) = (Set((routes + withdrawnRoutes).map(\.key)), Set(configured))
    for key in senders.keys where !known.contains(key) {
      let unused = Route(
        key: key, circuit: "closed", inFlight: 0, sent: 0, delivered: 0, lastError: nil)
      if configured.contains(key) { routes.append(unused) } else { withdrawnRoutes.append(unused) }
    }
    // Nothing was handed to a provider on a route that has had no sender since the start.
    withdrawnRoutes.removeAll { senders[$0.key] == nil }
    for list in [\HealthSnapshot.routes, \.withdrawnRoutes] {
      self[keyPath: list].sort { $0.key < $1.key }
      for index in self[keyPath: list].indices {
        self[keyPath: list][index].sender = senders[self[keyPath: list][index].key] ?? .init()
      }
    }
  }
}

extension Coordinator {
  fileprivate mutating func health(at now: Instant) -> HealthSnapshot {
    var health = HealthSnapshot()
    health.ledger = ledger
    for (key, route) in routesInOrder {
      let circuit =
        switch route.circuit.state {
        case .closed: "closed"
        case .open: "open"
        case .probing: "probing"
        }
      var item = HealthSnapshot.Route(
        key: key, circuit: circuit, inFlight: route.inFlight, sent: route.sent,
        delivered: route.delivered, lastError: route.lastError)
      item.pruningStop = route.pruning.stop.map {
        "\($0.dead) of the last \($0.users) users' answers called a device dead (\($0.reason))"
      }
      item.refusals = route.refusals
      if isListed(key) { health.routes.append(item) } else { health.withdrawnRoutes.append(item) }
    }
    let census = census(at: now)
    health.lanes = census.lanes
    if census.isRestoreProven {
      health.reasons.append(
        "a client's token names a history this store never had: it was restored from a copy; "
          + "run `zonerelay expire-tokens`")
    }
    (health.smearing.waiting, health.smearing.hurried) = (census.smeared, census.hurried)
    health.zonesWithGap = census.zonesWithGap
    health.remembered.ids = census.remembered
    health.remembered.oldestAge = Self.age(of: census.oldestRemembered, at: now)
    health.fanOuts.running = census.fanOuts
    health.fanOuts.oldestAge = Self.age(of: census.oldestFanOut, at: now)
    health.oldestPendingAge = Self.age(of: census.oldestPending, at: now)
    return health
  }

  private static func age(of instant: Instant?, at now: Instant) -> Double {
    instant.map { Double((now - $0).milliseconds) / 1_000 } ?? 0
  }
}
