import RelayCore

/// What the loop counts since start.
struct Tally: Sendable {
  var changes = Vitals.Changes()
  /// Facts journalled and not folded, and those of them in the cut under way.
  var unfolded = 0
  var inCut = 0
  var lastFold = Instant.zero
  var folds: Int64 = 0
  /// Entries they wrote into feeds: what merging saves shows here.
  var feedRows: Int64 = 0
  /// When people were last told that a smear is faster than its rate.
  var hurried: Instant?
  /// The store's last refusal, until it works again.
  private(set) var storeTrouble: String?
  /// When it was.
  private(set) var refusedAt = Instant.zero
  var feedback: [Scope: Vitals.Feedback] = [:]

  mutating func refused(_ error: StoreError, at now: Instant) {
    (storeTrouble, refusedAt) = (error.message, now)
  }

  mutating func storeWorks() { storeTrouble = nil }

  mutating func count(_ item: Feedback) {
    let scope = item.device.scope
    var counts = feedback[scope] ?? Vitals.Feedback(scope: scope)
    switch item.news {
    case .retired: counts.retired += 1
    case .silent: counts.silent += 1
    case .returned: counts.returned += 1
    }
    feedback[scope] = counts
  }

  mutating func count(_ answer: Answer) {
    switch answer {
    case .accepted: changes.accepted += 1
    case .duplicate: changes.duplicates += 1
    case .refused: changes.rejected += 1
    case .registered, .subscriptions, .done: break
    }
  }
}

extension EngineLoop {
  mutating func vitals(at now: Instant) -> Vitals {
    var vitals = relay.vitals(at: now)
    let readiness = inbox.readiness
    vitals.isReady = readiness.isReady
    vitals.reasons += readiness.reasons
    vitals.uptime = Double((outside.clock.boot() - startedAt).milliseconds) / 1_000
    vitals.changes = tally.changes
    vitals.addUnused(outside.senders.keys)
    for index in vitals.routes.indices {
      guard let sender = outside.senders[vitals.routes[index].key] else { continue }
      vitals.routes[index].sender = sender.vitals
    }
    vitals.feedback = tally.feedback.values.sorted { $0.scope < $1.scope }
    vitals.courierConnections = outside.courier?.count ?? 0
    vitals.store.journalTail = tally.unfolded
    (vitals.store.folds, vitals.store.feedRows) = (tally.folds, tally.feedRows)
    if tally.unfolded > 0, tally.lastFold > .zero {
      vitals.store.foldLag = Double((now - tally.lastFold).milliseconds) / 1_000
    }
    if let trouble = tally.storeTrouble {
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

extension Relay {
  mutating func vitals(at now: Instant) -> Vitals {
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
