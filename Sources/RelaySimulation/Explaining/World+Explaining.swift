import RelayCore
import RelayMemory

/// The check of explanations: a random change is explained for a random device, and compared with
/// what the world allows.
extension World {
  /// Keeps the entries of a turn, or loses them.
  func record(_ entries: [TraceEntry]) {
    if observer.witness.draw.permille(mutant == .losesEntries ? 200 : plan[.entriesLost]) {
      guard mutant != .losesEntries else { return }
      return store.trace.add([TraceEntry(at: now, .lost(entries.count))])
    }
    store.trace.add(mutant == .mixesAlerts ? entries.map(\.withMixedAlerts) : entries)
  }

  func checkExplanation() throws {
    guard let daemon, observer.witness.isOn, !observer.witness.changes.isEmpty,
      observer.witness.draw.permille(plan[.explained])
    else { return }
    guard let (notification, client) = drawPair() else { return }
    let key = clients[client].key
    guard let zone = observer.witness.arrivals[notification]?.first?.change.zone else { return }
    let standing = daemon.coordinator.standings(of: [key], zones: [zone])[0]
    let found = Explanation.of(notification, in: store.trace.entries, standing)
    let waiting = waiting(client, key)
    let outcome = found.last?.outcome.text ?? "no longer known"
    outcome.split(separator: " ").first.map { self.outcome.explained.told(String($0)) }
    guard let expected = observer.witness.expected(notification, for: key, waiting: waiting)
    else { return self.outcome.explained.isUnclear() }
    self.outcome.explained.compared(isExact: expected.count == 1)
    tell?("  explained \(notification.text) for \(key.line): \(outcome) of \(expected.sorted())")
    var checks = [("\(notification.text) for \(key.line)", outcome, expected)]
    for delivery in found.last?.deliveries ?? [] {
      let (id, text) = (delivery.subscription, delivery.outcome.text)
      let allowed = observer.witness.expected(notification, for: key, waiting: waiting, of: id)
      checks.append(("\(checks[0].0) by \(id.name)", text, allowed ?? [text]))
    }
    let lost: Set<String> = plan[.entriesLost] > 0 ? ["unknown", "no longer known"] : []
    guard let wrong = checks.first(where: { !$0.2.contains($0.1) && !lost.contains($0.1) })
    else { return }
    for entry in found.last?.story ?? [] { tell?("  story: \(entry.event)") }
    for part in standing.pending { tell?("  pending: \(part)") }
    for sight in observer.witness.sights[key] ?? [] { tell?("  seen: \(sight)") }
    throw InvariantViolation(
      .explanationsAreTrue, "\(wrong.0) is \(wrong.1), and was \(wrong.2.sorted())")
  }

  /// A change, mostly a recent one, and a client, mostly one of a user whom the change concerns.
  private func drawPair() -> (Identifier, Int)? {
    let changes = observer.witness.changes
    let isRecent = observer.witness.draw.below(4) > 0
    let notification = observer.witness.draw.pick(isRecent ? Array(changes.suffix(3)) : changes)
    guard let all = observer.witness.arrivals[notification] else { return nil }
    let concerned = Set(all.flatMap { $0.fired.keys })
    let near = clients.indices.filter { concerned.contains(clients[$0].user) }
    guard !near.isEmpty, observer.witness.draw.below(4) > 0 else {
      return (notification, observer.witness.draw.below(clients.count))
    }
    return (notification, observer.witness.draw.pick(near))
  }

  /// The reasons for which a notification that pends may not have been told to the device yet.
  private func waiting(_ client: Int, _ key: DeviceKey) -> Set<String> {
    if observer.inFlight[key] != nil { return ["under_way", "queued"] }
    let witness = observer.witness
    let policy = witness.plan.policy
    // The relay's time may differ from the world's by `slack`.
    let isTimeRight = faults.wallAhead == .zero && faults.corrections.isEmpty
    let slack: Span = isTimeRight ? .seconds(1) : .days(10_000)
    func isRecent(_ time: Instant?, _ span: Span) -> Bool {
      time.map { now - $0 <= span + slack } ?? false
    }
    var reasons: Set<String> = ["queued"]
    if witness.isStopping {
      reasons.insert("stopping")
      // A push that ended without a sender lets the device rest.
      if !providers.missing.isEmpty { reasons.insert("resting") }
    }
    if isRecent(witness.lastMatch[key], policy.windowMax) { reasons.insert("gathering") }
    if isUnfolded(.home(of: key.user, in: key.scope)) { reasons.insert("not_folded") }
    if mayHaveSpent(key) || policy.mode == .adaptive { reasons.insert("budget") }
    if policy.smearing.gap(capacity: witness.plan.fetchCapacity) != nil { reasons.insert("paced") }
    let last = (witness.sights[key] ?? []).reversed().lazy.compactMap { sight -> Verdict? in
      if case .ended(_, let verdict) = sight { verdict } else { nil }
    }.first
    switch last {
    case .gone: reasons.formUnion(["quarantined", "resting", "retired"])
    case .later, .rejected, .tooLarge: reasons.insert("resting")
    case .delivered, .deliveredElsewhere, nil: break
    }
    if isRecent(witness.polled[key], policy.courierGrace) { reasons.insert("between_polls") }
    let topic = witness.topics[key] ?? World.topic(of: clients[client].token)
    if clients[client].isCourierOnly {
      if clients[client].line?.key != key { reasons.insert("not_connected") }
    } else if providers.missing.contains(where: { $0.topic == topic }) {
      reasons.insert("no_provider")
    } else if witness.stoppedRoutes.contains(where: { $0.topic == topic }) {
      reasons.insert("route_stopped")
    }
    return reasons
  }

  /// Whether facts or attempts of the partition are in no fold yet.
  private func isUnfolded(_ partition: PartitionID) -> Bool {
    guard let daemon, faults.isOver, daemon.folding == nil else { return true }
    return store.tables(of: partition).cursor < daemon.coordinator.stepped(in: partition)
  }

  /// Whether the device's budgets may be used up.
  private func mayHaveSpent(_ key: DeviceKey) -> Bool {
    if !faults.crashes.isEmpty || !faults.corrections.isEmpty { return true }
    if observer.forgottenBudgets.contains(key) { return true }
    let from = now - plan.policy.background.per - .seconds(60)
    let spent = (observer.attempts[key] ?? []).count { $0.at > from }
    return spent >= min(plan.policy.background.max, plan.policy.alert.max)
  }
}

extension Explanation.Outcome {
  /// The outcome as the check compares it.
  fileprivate var text: String {
    switch self {
    case .woken(let wake): "woken \(wake)"
    case .not(let reason): reason.code
    case .unknown: "unknown"
    }
  }
}

extension TraceEntry {
  /// The entry with the alert of another subscription, if it is the entry of an alert's wake.
  fileprivate var withMixedAlerts: TraceEntry {
    guard case .device(let key, .wake(var wake)) = event, wake.alertOf != nil else { return self }
    wake.alertOf = SubscriptionID("db")
    return TraceEntry(at: at, .device(key, .wake(wake)))
  }
}
