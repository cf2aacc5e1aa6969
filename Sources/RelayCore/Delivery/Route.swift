/// A route to a provider: the lanes that wait for it, the attempts in flight, and its circuit.
///
/// ```
/// closed ──later(route), or an outage──▶ open(until) ──time──▶ probing ──answered──▶ closed
///                                          ▲                     └──not, or later(route)──┐
///                                          └─────────────────────────────────────────────┘
/// ```
/// As with any circuit breaker, *closed* lets pushes through. An outage begins when the attempts of
/// `outageDevices` devices in a row fail without one answer in between. The other lanes then wait
/// in the route and spend no attempts and no budget. After a successful probe the route takes a few
/// lanes, and then more and more.
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
  /// How many attempts may be in flight now. After a stop this is a small number; each answer
  /// raises it by one, and a provider that asks for fewer pushes at once lowers it by a quarter.
  private var room: Int
  private let outageDevices: Int?
  private var probe: Span
  /// Devices whose attempts failed since the last answer; never more than `outageDevices`.
  private var failing: Set<Failing> = []
  private var probing: PushAttempt.ID?
  private var queue = RouteQueue()
  /// Each user's share of the room. `nil` means that a user may take all of it, because all users
  /// have the same provider, or the route is the courier.
  private var shares: UserShares?
  /// Users whose pushes were refused permanently since the last accepted push: at most
  /// `refusalsTold`.
  private var refused: Set<UserID> = []
  /// Pushes that were refused permanently before any push was accepted.
  private var refusedAtFirst = 0

  private struct Failing: Hashable {
    var partition: PartitionID
    var device: Int
  }

  /// How many devices in a row without an answer are an outage. Fewer devices may be slow for
  /// causes of their own.
  package static let outageDevicesDefault = 20
  /// This many refusals without one accepted push are not caused by a single device or payload, but
  /// by our own configuration.
  package static let refusalsTold = 3
  /// The room after a stop. A provider that is back must not get all pushes at once, because that
  /// load may have been the cause of its failure.
  package static let roomAfterStop = 50

  /// The least room, even if a provider keeps asking for fewer pushes at once.
  package static let roomAtLeast = 10

  /// The most attempts of one user in flight, on a route where each device has a provider of its
  /// own.
  package static let inFlightPerUser = 8

  /// - Parameters:
  ///   - outageDevices: how many devices in a row without an answer are an outage. `nil` where each
  ///     device has a provider of its own, because the silence of one provider shows nothing about
  ///     the others.
  ///   - inFlightPerUser: a user's share of `inFlightMax`; `nil` means that a user may have all of
  ///     it.
  package init(
    inFlightMax: Int, probe: Span, pruning: Pruning.Rule = Pruning.Rule(),
    outageDevices: Int? = Route.outageDevicesDefault, inFlightPerUser: Int? = nil
  ) {
    shares = inFlightPerUser.map { UserShares(most: $0) }
    self.outageDevices = outageDevices
    self.pruning = Pruning(pruning, isOneProvider: outageDevices != nil)
    self.inFlightMax = inFlightMax
    room = inFlightMax
    self.probe = probe
  }

  /// Whether the circuit is not closed.
  package var isStopped: Bool { circuit != .closed }

  package var waiting: Int { queue.count }

  /// Permanent refusals since the last accepted push. Each user counts once, up to `refusalsTold`,
  /// because a user may register an endpoint that refuses every push. Before the first accepted
  /// push all refusals count, because a new app may have only one device.
  package var refusals: Int { delivered == 0 ? refusedAtFirst : refused.count }

  /// Adds to the queue a lane that may be woken; the queue has each lane only once. What the lane
  /// must tell is decided when its turn comes.
  package mutating func offer(_ lane: ReadyLane) { queue.append(lane) }

  /// Takes the next lane to wake, in the order of ``RouteQueue``; `nil` if no lane waits, the route
  /// has no room, or the circuit lets no lane through.
  package mutating func next(at now: Instant) -> ReadyLane? {
    switch circuit {
    case .closed: guard inFlight < room else { return nil }
    case .probing: return nil
    case .open(let until):
      guard until <= now, waiting > 0 else { return nil }
    }
    while let lane = queue.next() {
      if shares?.mayGo(lane) ?? true { return lane }
    }
    return nil
  }

  /// The lane had something to tell, and its attempt is in flight.
  package mutating func began(_ attempt: PushAttempt.ID, of lane: ReadyLane? = nil) {
    if let lane { shares?.began(attempt, of: lane) }
    inFlight += 1
    sent += 1
    if case .open = circuit {
      circuit = .probing
      probing = attempt
    }
  }

  /// The lane had its turn, but it has nothing to tell any more.
  package mutating func declined(_ lane: ReadyLane) {
    if let next = shares?.declined(lane) { queue.append(next) }
  }

  struct Ended {
    /// The verdict to settle now. `nil` means that the verdict is held, and `pruning.judged`
    /// returns it later.
    var settled: Verdict?
    /// The new `Pruning.stop`; the outer `nil` means that it has not changed.
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
    if let lane = shares?.ended(attempt) { queue.append(lane) }
    // An attempt that began before the stop does not show the present state: only the probe does.
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
      // A recalled push does not show the provider's state, so the next attempt is the probe.
      if isProbe { circuit = .open(until: now) }
    case .delivered, .deliveredElsewhere:
      delivered += 1
      refused = []
      answered(isProbe)
      if circuit == .closed { lastError = nil }
    case .later(_, .device, let reason), .later(_, .quarantine, let reason),
      .gone(_, let reason), .rejected(let reason), .tooLarge(let reason):
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

  /// Sets new rules, which apply from the next stop and the next report of a dead address on.
  package mutating func reconfigure(probe: Span, pruning rule: Pruning.Rule) {
    self.probe = probe
    pruning.reconfigure(rule)
  }

  /// The route has another provider: a stopped route is probed at once, and a quarantine ends. A
  /// probe in flight went to the earlier provider, so its result does not count for the new
  /// provider.
  package mutating func renew(at now: Instant) {
    (refused, refusedAtFirst, failing) = ([], 0, [])
    pruning.renew(at: now)
    switch circuit {
    case .closed: break
    case .open(let until): circuit = .open(until: min(until, now))
    case .probing: (circuit, probing) = (.open(until: now), nil)
    }
  }

  /// When an open route may be probed, if a lane waits for it, or when held reports of dead
  /// addresses are judged.
  package var nextTimer: Instant? {
    guard case .open(let until) = circuit, waiting > 0 else { return pruning.nextTimer }
    return min(until, pruning.nextTimer ?? .never)
  }
}
