import DequeModule

/// A route to a provider: the lanes that wait for it, the attempts in flight, and its circuit.
package struct Route: Sendable {
  package private(set) var inFlight = 0
  package private(set) var sent: Int64 = 0
  package private(set) var delivered: Int64 = 0
  package private(set) var pruning: Pruning
  package private(set) var circuit: Circuit
  private var queue = RouteQueue()
  /// Each user's share of the room. `nil` means that one user may take the whole room, because all
  /// users have the same provider, or the route is the courier.
  private var shares: UserShares?
  /// Users whose pushes were refused permanently since the last accepted push: at most
  /// `refusalsTold`.
  private var refused: Set<UserID> = []
  /// Pushes that were refused permanently before any push was accepted.
  private var refusedAtFirst = 0

  /// This many refusals without one accepted push are not caused by a single device or payload, but
  /// by our own configuration.
  package static let refusalsTold = 3

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
    outageDevices: Int? = Circuit.outageDevicesDefault, inFlightPerUser: Int? = nil
  ) {
    shares = inFlightPerUser.map { UserShares(most: $0) }
    self.pruning = Pruning(pruning, isOneProvider: outageDevices != nil)
    circuit = Circuit(inFlightMax: inFlightMax, probe: probe, outageDevices: outageDevices)
  }

  package var lastError: String? { circuit.lastError }
  /// Whether the circuit is not closed.
  package var isStopped: Bool { circuit.state != .closed }

  package var waiting: Int { queue.count }

  /// Permanent refusals since the last accepted push, at most `refusalsTold`. A user counts once,
  /// because a user may register an endpoint that refuses every push. Before the first accepted
  /// push all refusals count, because a new app may have only one device.
  package var refusals: Int { delivered == 0 ? refusedAtFirst : refused.count }

  /// Adds to the queue a lane that may be woken; the queue has each lane only once. What the lane
  /// must tell is decided when its turn comes.
  package mutating func offer(_ lane: ReadyLane) { queue.append(lane) }

  /// Takes the next lane to wake, in the order of ``RouteQueue``; `nil` if no lane waits, the route
  /// has no room, or the circuit lets no lane through.
  package mutating func next(at now: Instant) -> ReadyLane? {
    guard circuit.mayBegin(inFlight: inFlight, at: now) else { return nil }
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
    circuit.began(attempt)
  }

  /// The lane had its turn, but it has nothing to tell any more.
  package mutating func declined(_ lane: ReadyLane) {
    if let next = shares?.declined(lane) { queue.append(next) }
  }

  struct Ended {
    /// The verdict to settle now. `nil` means that the verdict is held, and `judged` returns it
    /// later.
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

  /// Takes the verdicts that were held and that pruning has now decided on.
  mutating func judged(at now: Instant) -> [Pruning.Judgement] { pruning.judged(at: now) }

  private mutating func note(
    _ verdict: Verdict, of attempt: PushAttempt.ID, from user: UserID, at now: Instant
  ) {
    inFlight -= 1
    if let lane = shares?.ended(attempt) { queue.append(lane) }
    circuit.ended(verdict, of: attempt, at: now)
    switch verdict {
    case .delivered, .deliveredElsewhere:
      delivered += 1
      refused = []
    case .rejected where refusals < Self.refusalsTold:
      refused.insert(user)
      if delivered == 0 { refusedAtFirst += 1 }
    case .later, .gone, .rejected, .tooLarge: break
    }
  }

  /// Sets new rules. They apply to all later stops of the route, and to all later reports of a dead
  /// address.
  package mutating func reconfigure(probe: Span, pruning rule: Pruning.Rule) {
    circuit.reconfigure(probe: probe)
    pruning.reconfigure(rule)
  }

  /// The route has another provider: a stopped route is probed at once, and a quarantine ends.
  package mutating func renew(at now: Instant) {
    (refused, refusedAtFirst) = ([], 0)
    pruning.renew(at: now)
    circuit.renew(at: now)
  }

  /// The earliest time at which the route must act if no other input comes: an open route may be
  /// probed if a lane waits for it, or held reports of dead addresses are judged.
  package var nextTimer: Instant? {
    guard case .open(let until) = circuit.state, waiting > 0 else { return pruning.nextTimer }
    return min(until, pruning.nextTimer ?? .never)
  }
}

/// Lanes that wait for a route. All alerts are served before background wakes; each of the two
/// kinds has an order of its own.
///
/// Lanes whose last attempt failed wait apart, in the order in which they are due again. Three of
/// four turns are for fresh lanes and the fourth is for retries, however many retries wait after a
/// fault.
///
/// A place is a device's slot together with its user, and is in the queue only once. So a user's
/// devices that move or disappear while a route is stopped do not make the queue longer. If another
/// user gets the slot, that user has another place, and does not wait for the first user's share.
struct RouteQueue: Hashable, Sendable {
  private var alerts = Turns()
  private var background = Turns()
  private var standing: Set<Place> = []

  private struct Place: Hashable, Sendable {
    var partition: PartitionID
    var device: Int
    var user: Int

    init(_ lane: ReadyLane) {
      (partition, device, user) = (lane.partition, lane.device, lane.user)
    }
  }

  var count: Int { standing.count }

  mutating func append(_ lane: ReadyLane) {
    guard standing.insert(Place(lane)).inserted else { return }
    if lane.isAlert { alerts.append(lane) } else { background.append(lane) }
  }

  /// Removes and returns the next lane; `nil` if no lane waits.
  mutating func next() -> ReadyLane? {
    guard let lane = alerts.next() ?? background.next() else { return nil }
    standing.remove(Place(lane))
    return lane
  }
}

private struct Turns: Hashable, Sendable {
  private var fresh: Deque<ReadyLane> = []
  private var retries: Deque<ReadyLane> = []
  /// How many fresh lanes in a row had their turn while a retry waited.
  private var passed = 0

  /// After this many fresh lanes a retry has its turn. A small share of the turns is enough for the
  /// retries after a fault, and hardly delays fresh lanes.
  private static let passedMax = 3

  mutating func append(_ lane: ReadyLane) {
    if lane.isRetry { retries.append(lane) } else { fresh.append(lane) }
  }

  mutating func next() -> ReadyLane? {
    guard !retries.isEmpty else { return fresh.popFirst() }
    if passed < Self.passedMax, let lane = fresh.popFirst() {
      passed += 1
      return lane
    }
    passed = 0
    return retries.popFirst()
  }
}
