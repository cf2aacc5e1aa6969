import RelayCore

extension EngineLoop {
  mutating func health() -> HealthSnapshot {
    let (now, counters) = (coordinator.now, coordinator.counters)
    var health = coordinator.health(at: now)
    let readiness = inbox.readiness
    health.isReady = readiness.isReady
    health.reasons = readiness.reasons + health.reasons
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
    if let recorder = dependencies.trace?.recorder { health.recorder = recorder.health }
    if let trouble = health.recorder.trouble { health.reasons.append(trouble) }
    return health
  }

  /// What the relay knows of these devices, and how many entries the flight recorder has taken,
  /// both at the same moment.
  func standings(of devices: [DeviceKey], _ zones: [ZoneID]) -> Standings {
    Standings(
      devices: coordinator.standings(of: devices, zones: zones),
      place: dependencies.trace?.recorder?.place ?? 0)
  }
}

extension HealthSnapshot {
  /// Adds what the senders of each route have counted, and the routes without pushes: the core
  /// makes a route only when a lane first waits for it, but the status shows every configured route
  /// from the start.
  mutating func add(
    _ senders: [RouteKey: SenderHealth], configured: some Collection<RouteKey>
  ) {
    let (known, configured) = (Set((routes + withdrawnRoutes).map(\.key)), Set(configured))
    for key in senders.keys where !known.contains(key) {
      let unused = RouteHealth(
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
      var item = HealthSnapshot.RouteHealth(
        key: key, circuit: circuit, inFlight: route.inFlight, sent: route.sent,
        delivered: route.delivered, lastError: route.lastError)
      item.isPruning = route.pruning.stop == nil
      if isListed(key) { health.routes.append(item) } else { health.withdrawnRoutes.append(item) }
    }
    let census = census(at: now)
    health.lanes = census.lanes
    health.reasons = healthIssues(census).map(\.sentence)
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
