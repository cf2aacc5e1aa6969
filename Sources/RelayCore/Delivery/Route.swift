/// A road to a provider: who waits for it, how much is under way, and whether it is open.
///
/// ```
/// closed ──later(route), or an outage──▶ open(until) ──time──▶ probing ──answered──▶ closed
///                                          ▲                     └──not, or later(route)──┐
///                                          └─────────────────────────────────────────────┘
/// ```
/// As with any breaker, *closed* lets pushes through. An outage is so many devices in a row whose
/// attempts failed without one answer in between: the others wait here instead of wearing out
/// themselves and their budgets, and go when a probe gets through: a few, then more and more.
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
  /// How much may be under way now: little after a stop, a quarter less when the provider asks for
  /// less at once, and one more with each answer.
  private var room: Int
  private let outageDevices: Int?
  private var probe: Span
  /// Whose attempts failed since the last answer; never more than `outageDevices`.
  private var failing: Set<Failing> = []
  private var probing: PushAttempt.ID?
  private var queue = RouteQueue()
  private var shares: UserShares
  /// Whose pushes were refused for good since the last that was taken: at most `refusalsTold`.
  private var refused: Set<UserID> = []
  /// Pushes refused for good while none was ever taken.
  private var refusedAtFirst = 0

  private struct Failing: Hashable {
    var partition: PartitionID
    var device: Int
  }

  /// Fewer could be a few devices that are slow by themselves.
  package static let outageDevicesDefault = 20
  /// So many refusals without one push taken are no matter of a single device or payload: they are
  /// our mistake.
  package static let refusalsTold = 3
  /// A provider that is back is not met by everybody at once: that may be what it broke under.
  package static let roomAfterStop = 50

  /// However often a provider asks for less at once.
  package static let roomAtLeast = 10

  /// What one user may have under way where each device has a provider of its own.
  package static let inFlightPerUser = 8

  /// - Parameters:
  ///   - outageDevices: so many devices in a row that got no answer are an outage; nil where each
  ///     has a provider of its own, whose silence says nothing of the others.
  ///   - inFlightPerUser: of `inFlightMax`; nil: a user may have all of it.
  package init(
    inFlightMax: Int, probe: Span, pruning: Pruning.Rule = Pruning.Rule(),
    outageDevices: Int? = Route.outageDevicesDefault, inFlightPerUser: Int? = nil
  ) {
    shares = UserShares(most: inFlightPerUser)
    self.outageDevices = outageDevices
    self.pruning = Pruning(pruning, isOneProvider: outageDevices != nil)
    self.inFlightMax = inFlightMax
    room = inFlightMax
    self.probe = probe
  }

  /// Its circuit is not closed.
  package var isStopped: Bool { circuit != .closed }

  package var waiting: Int { queue.count }

  /// Refusals for good since the last push that was taken; each user's count once, and no more are
  /// counted than are told of: a user may register what refuses whatever it gets. Until the first
  /// push is taken all count: the one device of a new app may be all there is.
  package var refusals: Int { delivered == 0 ? refusedAtFirst : refused.count }

  /// A lane may be woken. It waits here as state, once, not as a message.
  package mutating func offer(_ lane: ReadyLane) { queue.append(lane) }

  /// The next lane to wake now, as ``RouteQueue`` has it; nil if none waits or the route has no
  /// room.
  package mutating func next(at now: Instant) -> ReadyLane? {
    switch circuit {
    case .closed: guard inFlight < room else { return nil }
    case .probing: return nil
    case .open(let until):
      guard until <= now, waiting > 0 else { return nil }
    }
    while let lane = queue.next() {
      if shares.mayGo(lane) { return lane }
    }
    return nil
  }

  /// The lane really had something to tell: an attempt is under way.
  package mutating func began(_ attempt: PushAttempt.ID, of lane: ReadyLane? = nil) {
    if let lane { shares.began(attempt, of: lane) }
    inFlight += 1
    sent += 1
    if case .open = circuit {
      circuit = .probing
      probing = attempt
    }
  }

  /// The lane had its turn and nothing to tell any more.
  package mutating func declined(_ lane: ReadyLane) {
    if let next = shares.declined(lane) { queue.append(next) }
  }

  struct Ended {
    /// What to settle now; nil: it is held, and `pruning.judged` says it later.
    var settled: Verdict?
    /// What has become of pruning; the outer nil: nothing.
    var pruning: Pruning.Stop??
  }

  mutating func ended(
    _ verdict: Verdict, of attempt: PushAttempt.ID, about subject: Pruning.Subject,
    at now: Instant
  ) -> Ended {
    note(verdict, of: attempt, from: subject.user, at: now)
    let before = pruning.stop
    let settled = pruning.heard(verdict, of: attempt, about: subject, at: now)
    let after = pruning.stop
    return Ended(settled: settled, pruning: before == after ? nil : .some(after))
  }

  private mutating func note(
    _ verdict: Verdict, of attempt: PushAttempt.ID, from user: UserID, at now: Instant
  ) {
    inFlight -= 1
    if let lane = shares.ended(attempt) { queue.append(lane) }
    // What began before the stop says nothing of the present: only the probe does.
    let isProbe = probing == attempt
    if isProbe { probing = nil }
    switch verdict {
    case .later(_, .route, let reason):
      stop(reason, at: now)
    case .later(_, .attempt, let reason), .later(_, .unsent, let reason):
      if isProbe || isOutage(with: attempt) { stop(reason, at: now) }
      if circuit == .closed { lastError = reason.text }
    case .later(_, .pace, let reason):
      answered(isProbe)
      room = max(min(inFlightMax, Self.roomAtLeast), room - room / 4)
      if circuit == .closed { lastError = reason.text }
    case .later(_, .recalled, _):
      // It says nothing of the provider: the next one probes.
      if isProbe { circuit = .open(until: now) }
    case .delivered, .deliveredElsewhere:
      delivered += 1
      refused = []
      answered(isProbe)
      if circuit == .closed { lastError = nil }
    case .later(_, .device, let reason), .gone(_, let reason), .rejected(let reason),
      .tooLarge(let reason):
      answered(isProbe)
      if case .rejected = verdict, refusals < Self.refusalsTold {
        refused.insert(user)
        if delivered == 0 { refusedAtFirst += 1 }
      }
      if circuit == .closed { lastError = reason.text }
    }
  }

  private mutating func stop(_ reason: Verdict.Reason, at now: Instant) {
    lastError = reason.text
    circuit = .open(until: now + probe)
    room = min(inFlightMax, Self.roomAfterStop)
    probing = nil
    failing = []
  }

  private mutating func answered(_ isProbe: Bool) {
    if isProbe { circuit = .closed }
    if room < inFlightMax, circuit == .closed { room += 1 }
    if !failing.isEmpty { failing = [] }
  }

  private mutating func isOutage(with attempt: PushAttempt.ID) -> Bool {
    guard let outageDevices, circuit == .closed else { return false }
    failing.insert(Failing(partition: attempt.partition, device: attempt.device))
    return failing.count >= outageDevices
  }

  /// From the next refusal on.
  package mutating func reconfigure(probe: Span, pruning rule: Pruning.Rule) {
    self.probe = probe
    pruning.reconfigure(rule)
  }

  /// Its provider is another one: a stopped route is probed at once, and a quarantine ends. A probe
  /// that is under way asked the one before, and says nothing of this one.
  package mutating func renew(at now: Instant) {
    (refused, refusedAtFirst, failing) = ([], 0, [])
    pruning.renew(at: now)
    switch circuit {
    case .closed: break
    case .open(let until): circuit = .open(until: min(until, now))
    case .probing: (circuit, probing) = (.open(until: now), nil)
    }
  }

  /// When an open route may be probed, if somebody waits for it.
  /// Or when words against addresses, held for a moment, are judged.
  package var nextTimer: Instant? {
    guard case .open(let until) = circuit, waiting > 0 else { return pruning.nextTimer }
    return min(until, pruning.nextTimer ?? .never)
  }
}
