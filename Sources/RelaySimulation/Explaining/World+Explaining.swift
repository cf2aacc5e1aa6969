import RelayCore
import RelayMemory

/// The check of explanations: a random change is explained for a random device, and compared with
/// what the world allows.
extension World {
  /// Keeps the entries of a turn, or loses them.
  func record(_ entries: [TraceEntry]) {
    if observer.witness.draw.permille(mutant == .losesEntries ? 200 : plan.explaining.lost) {
      guard mutant != .losesEntries else { return }
      return store.record([TraceEntry(at: now, .lost(entries.count))])
    }
    store.record(entries)
  }

  func checkExplanation() throws {
    guard let daemon, observer.witness.isOn, !observer.witness.changes.isEmpty,
      observer.witness.draw.permille(plan.explaining.steps)
    else { return }
    guard let (notification, client) = drawPair() else { return }
    let key = clients[client].key
    guard let zone = observer.witness.arrivals[notification]?.first?.change.zone else { return }
    let standing = daemon.standing(of: key, zones: [zone])
    let found = Explanation.of(notification, in: store.trace.entries, standing)
    let outcome = found.last?.outcome.text ?? "no longer known"
    outcome.split(separator: " ").first.map { self.outcome.explained.told(String($0)) }
    guard let expected = observer.witness.expected(notification, for: key, state(of: client, key))
    else { return self.outcome.explained.isUnclear() }
    self.outcome.explained.compared(isExact: expected.count == 1)
    let mayBeLost = plan.explaining.lost > 0 && ["unknown", "no longer known"].contains(outcome)
    tell?("  explained \(notification.text) for \(key.line): \(outcome) of \(expected.sorted())")
    guard !expected.contains(outcome), !mayBeLost else { return }
    for entry in found.last?.story ?? [] { tell?("  story: \(entry.event)") }
    for part in standing.pending { tell?("  pending: \(part)") }
    for sight in observer.witness.sights[key] ?? [] { tell?("  seen: \(sight)") }
    throw InvariantViolation(
      .explanationsAreTrue,
      "\(notification.text) for \(key.line) is \(outcome), and was \(expected.sorted())")
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

  private func state(of client: Int, _ key: DeviceKey) -> Witness.PresentState {
    let home = PartitionID.home(of: key.user, in: key.scope)
    let tables = store.tables(of: home)
    let last = observer.witness.sights[key]?.reversed().lazy.compactMap { sight -> Verdict? in
      if case .ended(_, let verdict) = sight { verdict } else { nil }
    }.first
    let from = now - plan.policy.background.per - .seconds(60)
    let spent = (observer.attempts[key] ?? []).filter { $0.at > from }
    let topic = observer.witness.topics[key] ?? World.topic(of: clients[client].token)
    let most = min(plan.policy.background.max, plan.policy.alert.max)
    return Witness.PresentState(
      at: now, isInFlight: observer.inFlight[key] != nil,
      isUnfolded: tables.cursor < (daemon?.stepped(in: home) ?? .zero) || daemon?.folding != nil
        || faults.isOver == false,
      hasSpent: spent.count >= most || !faults.crashes.isEmpty || !faults.corrections.isEmpty,
      last: last, isCourierOnly: clients[client].isCourierOnly,
      isConnected: clients[client].line?.key == key, topic: topic,
      isWithoutProvider: providers.missing.contains { $0.topic == topic },
      slack: faults.wallAhead == .zero && faults.corrections.isEmpty ? .seconds(1) : .days(10_000))
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
