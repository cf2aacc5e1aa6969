import RelayCore
package import RelayEngine
package import RelayWire

extension StatusReport {
  /// The status report of one moment.
  package init(_ health: HealthSnapshot, version: String, pid: Int32) {
    self.init(
      version: version, pid: pid, uptime: health.uptime, healthy: health.healthy,
      reasons: health.reasons,
      store: Store(
        engine: health.store.engine, bytes: health.store.bytes,
        journalTail: health.store.journalTail, foldLag: health.store.foldLag),
      ledger: Ledger(health.ledger),
      changes: Changes(
        accepted: health.changes.accepted, duplicates: health.changes.duplicates,
        rejected: health.changes.rejected),
      lanes: Lanes(health.lanes), routes: health.routes.map(RouteReport.init),
      fanouts: FanOuts(running: health.fanOuts.running, oldestAge: health.fanOuts.oldestAge),
      oldestPendingAge: health.oldestPendingAge,
      remembered: Memory(ids: health.remembered.ids, oldestAge: health.remembered.oldestAge),
      webhooks: health.webhooks.map(Webhook.init))
  }
}

extension StatusReport.Ledger {
  init(_ ledger: RelayCore.Ledger) {
    self.init()
    (matched, recovered, own) = (ledger.matched, ledger.recovered, ledger.own)
    (merged, woken, fetched) = (ledger.merged, ledger.woken, ledger.fetched)
    (withdrawn, retired, expired) = (ledger.withdrawn, ledger.retired, ledger.expired)
    (pending, balanced) = (ledger.pending, ledger.isBalanced)
  }
}

extension StatusReport.Lanes {
  init(_ lanes: HealthSnapshot.Lanes) {
    self.init()
    (idle, gathering, due, inFlight) = (lanes.idle, lanes.gathering, lanes.due, lanes.inFlight)
    (resting, watching, retired) = (lanes.resting, lanes.watching, lanes.retired)
  }
}

extension StatusReport.RouteReport {
  init(_ route: HealthSnapshot.RouteHealth) {
    self.init(
      container: route.key.scope.container, environment: route.key.scope.environment.name,
      transport: route.key.transport.name, topic: route.key.topic, circuit: route.circuit,
      inFlight: route.inFlight, sent: route.sent, delivered: route.delivered,
      lastError: route.lastError)
  }
}

extension StatusReport.Webhook {
  init(_ hook: HealthSnapshot.Webhook) {
    self.init(
      container: hook.scope.container, environment: hook.scope.environment.name,
      state: hook.state.rawValue, position: hook.position, sent: hook.sent, failed: hook.failed,
      oldestAge: hook.oldestAge, lastError: hook.lastError)
  }
}

extension DeviceReport {
  init(_ row: DeviceRow, at now: Instant, keys: any TokenKeys) {
    let lane = row.lane
    let digest =
      row.address.token.isEmpty ? "" : Hex.text(keys.digest(row.address.token).prefix(4))
    self.init(
      clientId: row.key.client.text, user: row.key.user.name, container: row.key.scope.container,
      environment: row.key.scope.environment.name, transport: row.address.transport.name,
      topic: row.address.topic, state: lane.retirement == nil ? "active" : "retired",
      reason: lane.retirement?.reason, registeredAt: row.registeredAt.milliseconds,
      age: Double((now - row.registeredAt).milliseconds) / 1_000, tokenDigest: digest,
      lane: Self.state(of: lane),
      pending: lane.pending.deliveries, hasAcknowledged: lane.hasAcknowledged,
      nextWake: lane.nextWake,
      lastWake: lane.lastWake == .zero ? nil : lane.lastWake.milliseconds,
      ladderStep: lane.ladderStep, lastVerdict: lane.lastVerdict?.text,
      lastVerdictAt: lane.lastVerdict?.at.milliseconds,
      lastFetch: lane.lastFetch?.milliseconds)
  }

  /// The name of the state in which the relay would begin this lane if it read the lane from the
  /// tables now.
  private static func state(of record: LaneRecord) -> String {
    switch Lane(record, folded: .zero).state {
    case .idle: "idle"
    case .gathering: "gathering"
    case .due: "due"
    case .inFlight: "inFlight"
    case .resting: "resting"
    case .watching: "watching"
    case .retired: "retired"
    }
  }
}
