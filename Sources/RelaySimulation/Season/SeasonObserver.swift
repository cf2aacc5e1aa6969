import RelayCore

/// The state that a season's checkers keep for each phone.
struct SeasonObserver {
  /// A change of which a phone must be told.
  struct Expected {
    var ordinal: Ordinal
    var at: Instant
    /// The total time for which the phone had been reachable when the change came.
    var reached: Span
    var isTold = false
  }

  private struct State {
    var expected: [Expected] = []
    var inFlight: PushAttempt.ID?
    /// Attempts within the budget's current stretch.
    var attempts: [Instant] = []
    /// The time after which no fault so far, such as a failed attempt or a restart, delays the
    /// phone's wakes any more.
    var calmSince: Instant
  }

  private var states: [State]
  private var crashes: [Instant] = []
  private let policy: WakePolicy
  /// The longest time from a pending change to its push if no fault occurs: the budget's stretch,
  /// the window, retries and folds.
  let bound: Span

  init(phones: Int, policy: WakePolicy) {
    states = Array(repeating: State(calmSince: SeasonWorld.start), count: phones)
    self.policy = policy
    bound = policy.background.per + policy.windowMax + policy.retryMax + .minutes(3)
  }

  mutating func crashed(at now: Instant) {
    crashes.append(now)
    for index in states.indices {
      states[index].inFlight = nil
      states[index].calmSince = now + .seconds(20)
    }
  }

  mutating func pends(_ expected: Expected, _ phone: Int) {
    states[phone].expected.append(expected)
  }

  /// Records that the app was removed, so that no wake is expected.
  mutating func gone(_ phone: Int) { states[phone].expected = [] }

  /// P6 and P7, checked at every attempt.
  mutating func began(_ attempt: PushAttempt, _ phone: Int, at now: Instant) throws {
    try demand(
      .oneAttemptAtATime, states[phone].inFlight == nil,
      "two attempts in flight for phone \(phone)")
    states[phone].inFlight = attempt.id
    let from = now - policy.background.per
    states[phone].attempts.removeAll { $0 <= from }
    states[phone].attempts.append(now)
    let allowed = policy.backgroundMost + crashes.count { $0 > from }
    try demand(
      .theBudgetHolds, states[phone].attempts.count <= allowed,
      "\(states[phone].attempts.count) attempts for phone \(phone) in \(policy.background.per)")
  }

  mutating func ended(_ attempt: PushAttempt, _ verdict: Verdict, _ phone: Int, at now: Instant) {
    if states[phone].inFlight == attempt.id {
      states[phone].inFlight = nil
      // The provider refused the relay and the phone got no push, so no budget counts the attempt.
      if verdict.isRoutes { _ = states[phone].attempts.popLast() }
    }
    switch verdict {
    case .delivered, .deliveredElsewhere: break
    case .later(let after, .device, _): states[phone].calmSince = now + (after ?? .zero)
    case .gone: states[phone].calmSince = now + policy.pruning.quarantineMax
    case .later(_, _, SeasonWorld.outageReason), .later(_, .route, _):
      // A stopped route delays all phones, also those without a verdict.
      for index in states.indices {
        states[index].calmSince = max(states[index].calmSince, now + policy.probe)
      }
    case .later, .rejected, .tooLarge: states[phone].calmSince = now
    }
  }

  /// Records that Apple took a push. The push covers every change that was stepped before the push
  /// was made.
  mutating func taken(_ push: PushTaken, _ phone: Int) {
    guard !push.text.zones.isEmpty || push.text.isMore else { return }
    for index in states[phone].expected.indices
    where states[phone].expected[index].ordinal <= push.stepped {
      states[phone].expected[index].isTold = true
    }
  }

  /// Records that the phone has fetched up to `position`.
  ///
  /// - Returns: for each change fetched now, how long the phone could be reached since the change.
  mutating func fetched(
    to position: Position, _ phone: Int, _ reached: Span, at now: Instant
  ) throws -> [Span] {
    try look(phone, at: now)
    let count = states[phone].expected.prefix { $0.ordinal <= position.ordinal }.count
    defer { states[phone].expected.removeFirst(count) }
    return states[phone].expected.prefix(count).map { reached - $0.reached }
  }

  /// P5: no change waits longer than the bound for its wake.
  func look(_ phone: Int, at now: Instant) throws {
    guard let first = states[phone].expected.first(where: { !$0.isTold }) else { return }
    let since = max(first.at, states[phone].calmSince)
    try demand(
      .everyDeviceIsWoken, now - since <= bound,
      "phone \(phone) was told nothing of \(first.ordinal.number) for \(now - since)")
  }

  /// The changes that a phone has not fetched at the end.
  func unfetched(_ phone: Int) -> [Expected] { states[phone].expected }
  func isFlying(_ phone: Int) -> Bool { states[phone].inFlight != nil }
}

extension Verdict {
  /// Whether the verdict is a fault of the whole route, such as a refused credential or an outage.
  var isRoutes: Bool {
    if case .later(_, .route, _) = self { true } else { false }
  }

  /// Whether the push did not leave the relay.
  var isUnsent: Bool {
    switch self {
    case .later(_, .recalled, _), .later(_, .unsent, _): true
    default: false
    }
  }
}
