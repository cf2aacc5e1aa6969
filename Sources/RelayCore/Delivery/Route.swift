import DequeModule

/// A road to a provider: who waits for it, how much is under way, and whether it is open.
///
/// ```
/// closed ──later(route)──▶ open(until) ──time──▶ probing ──any other verdict──▶ closed
///                            ▲                     └──later(route)──┐
///                            └──────────────────────────────────────┘
/// ```
/// As with any breaker, *closed* lets pushes through.
package struct Route: Sendable {
  package enum Circuit: Hashable, Sendable {
    case closed
    case open(until: Instant)
    case probing
  }

  package private(set) var circuit = Circuit.closed
  package private(set) var inFlight = 0
  package private(set) var sent: Int64 = 0
  package private(set) var delivered: Int64 = 0
  package private(set) var lastError: String?
  package internal(set) var pruning: Pruning
  private let inFlightMax: Int
  private var probe: Span
  private var alerts: Deque<ReadyLane> = []
  private var background: Deque<ReadyLane> = []

  package init(inFlightMax: Int, probe: Span, pruning: Pruning.Rule = Pruning.Rule()) {
    self.pruning = Pruning(pruning)
    self.inFlightMax = inFlightMax
    self.probe = probe
  }

  package var waiting: Int { alerts.count + background.count }

  /// A lane may be woken. It waits here as state, once, not as a message.
  package mutating func offer(_ lane: ReadyLane) {
    if lane.isAlert { alerts.append(lane) } else { background.append(lane) }
  }

  /// The next lane to wake now, alerts first; nil if none waits or the route has no room.
  package mutating func next(at now: Instant) -> ReadyLane? {
    switch circuit {
    case .closed: guard inFlight < inFlightMax else { return nil }
    case .probing: return nil
    case .open(let until):
      guard until <= now, waiting > 0 else { return nil }
    }
    return alerts.popFirst() ?? background.popFirst()
  }

  /// The lane really had something to tell: an attempt is under way.
  package mutating func began() {
    inFlight += 1
    sent += 1
    if case .open = circuit { circuit = .probing }
  }

  struct Ended {
    /// What to settle now; nil: it is held, and `pruning.judged` says it later.
    var settled: Verdict?
    /// What has become of pruning; the outer nil: nothing.
    var pruning: Pruning.Stop??
  }

  mutating func ended(
    _ verdict: Verdict, of attempt: PushAttempt.ID, at now: Instant
  ) -> Ended {
    ended(verdict, at: now)
    let before = pruning.stop
    let settled = pruning.heard(verdict, of: attempt, at: now)
    let after = pruning.stop
    return Ended(settled: settled, pruning: before == after ? nil : .some(after))
  }

  package mutating func ended(_ verdict: Verdict, at now: Instant) {
    inFlight -= 1
    switch verdict {
    case .later(_, .route, let reason):
      lastError = reason.text
      circuit = .open(until: now + probe)
    case .delivered:
      delivered += 1
      lastError = nil
      if circuit == .probing { circuit = .closed }
    case .later(_, _, let reason), .gone(_, let reason), .rejected(let reason):
      lastError = reason.text
      if circuit == .probing { circuit = .closed }
    }
  }

  /// From the next refusal on.
  package mutating func adopt(probe: Span) { self.probe = probe }

  /// Its provider is another one: a stopped route is probed at once.
  package mutating func renew(at now: Instant) {
    if case .open(let until) = circuit { circuit = .open(until: min(until, now)) }
  }

  /// When an open route may be probed, if somebody waits for it.
  /// Or when words against addresses, held for a moment, are judged.
  package var nextTimer: Instant? {
    guard case .open(let until) = circuit, waiting > 0 else { return pruning.nextTimer }
    return min(until, pruning.nextTimer ?? .never)
  }
}
