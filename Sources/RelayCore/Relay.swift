/// The whole relay's decisions: its partitions and its routes. One instance exists, and the
/// coordinator owns it.
///
/// The inputs are facts that are already durable, and events from outside such as a provider's
/// verdict. The outputs are effects.
package struct Relay: ~Copyable {
  var partitions: Partitions
  /// Messages that their target partitions have not stepped yet.
  var outbox = OutboxLoad()
  var routes: [RouteKey: Route]
  let limits: Limits
  private var policy: WakePolicy
  /// Routes without a provider, for example because a reload removed the provider. Lanes wait in
  /// these routes, and the relay sends nothing on them.
  private(set) var withdrawn: Set<RouteKey> = []
  /// Whether recovery has not ended yet. Until then no wake goes out.
  private var isReplaying = true
  private(set) var isDraining = false
  /// How far the wall clock is ahead of the instants that the relay is given. Times that are
  /// written into a push are wall-clock times.
  package var wallAhead = Span.zero
  private var trace: TraceBuffer

  /// - Parameter isTraced: whether entries for the flight recorder are made.
  package init(
    _ tables: [PartitionTables], limits: Limits, policy: WakePolicy, isTraced: Bool = false
  ) {
    let byID = Dictionary(uniqueKeysWithValues: tables.map { ($0.id, $0) })
    partitions = Partitions(
      PartitionID.all.map { id in
        Partition(
          byID[id] ?? PartitionTables(id: id), limits: limits, policy: policy, isTraced: isTraced)
      })
    routes = [:]
    trace = TraceBuffer(isOn: isTraced)
    self.limits = limits
    self.policy = policy
    for row in tables.flatMap(\.outbox) { sent(row) }
  }

  package func partition(_ id: PartitionID) -> Partition { partitions[Int(id.number)] }
  /// One partition's ledger, without a copy of the partition.
  package func ledger(of id: PartitionID) -> Ledger { partitions[Int(id.number)].ledger }
  package var ledger: Ledger {
    partitions.indices.reduce(Ledger()) { $0 + partitions[$1].ledger }
  }
  /// A partition's newest fact that was stepped.
  func stepped(in id: PartitionID) -> Ordinal {
    partitions.ask(Int(id.number)) { $0.stepped }
  }

  /// Whether a wide change still has slices to be stepped in the partition.
  func isFanningOut(in id: PartitionID) -> Bool {
    partitions.ask(Int(id.number)) { !$0.unfinished.isEmpty }
  }

  package var isDirty: Bool { isDirty(besides: []) }

  /// Whether a cut without these partitions has anything to write.
  package func isDirty(besides without: Set<PartitionID>) -> Bool {
    partitions.indices.contains { index in
      partitions.ask(index, { $0.isDirty }) && !without.contains(partitions[index].id)
    }
  }

  /// An upper bound of the entries that the next cut brings into feeds.
  package var uncutEntries: Int { partitions.indices.reduce(0) { $0 + partitions[$1].uncut } }

  /// Partitions for which the next cut brings at least `entries` entries into feeds.
  package func partitions(withUncut entries: Int) -> Set<PartitionID> {
    Set(partitions.indices.filter { partitions[$0].uncut >= entries }.map { PartitionID($0) })
  }

  /// Whether a lane waits for a fold; the next fold should then begin soon.
  package var isAwaitingFold: Bool {
    partitions.indices.contains { partitions[$0].wakes.isAwaitingFold }
  }

  /// Routes that were ever used, in order of their keys.
  package var routesInOrder: [(key: RouteKey, route: Route)] {
    routes.sorted { $0.key < $1.key }.map { (key: $0.key, route: $0.value) }
  }

  /// Whether `status` lists this route. It lists a withdrawn route until the last attempt has
  /// ended.
  package func isListed(_ key: RouteKey) -> Bool {
    !withdrawn.contains(key) || (routes[key]?.inFlight ?? 0) > 0
  }

  /// How many lanes one call of `wake` evaluates anew after a reload: some milliseconds of work.
  static let evaluatedAnewAtOnce = 4_096

  /// Sets new rules, which hold from now on. The caller sets them between two steps; earlier
  /// decisions stay. The next calls of `wake` evaluate waiting lanes anew, `evaluatedAnewAtOnce` in
  /// each call.
  package mutating func reconfigure(_ policy: WakePolicy, at now: Instant) {
    guard policy != self.policy else { return }
    self.policy = policy
    for index in partitions.indices { partitions[index].reconfigure(policy, at: now) }
    for key in routes.keys.sorted() {
      routes[key]?.reconfigure(probe: policy.probe, pruning: policy.pruning)
    }
  }

  /// The route has a provider again, or another one, so the cause of its stop may be over. Lanes
  /// that wait for the route do not wait for the next probe. Lanes that rest after a failed attempt
  /// are evaluated again.
  package mutating func renew(_ route: RouteKey, at now: Instant) {
    withdrawn.remove(route)
    note(.renewed, of: route, at: now)
    routes[route]?.renew(at: now)
    for index in partitions.indices { partitions[index].renew(route, at: now) }
  }

  /// The route has no provider any more. Attempts in flight end as usual; lanes wait in the route
  /// until `renew`.
  package mutating func withdraw(_ route: RouteKey, at now: Instant) {
    withdrawn.insert(route)
    note(.withdrawn, of: route, at: now)
  }

  private mutating func note(_ event: RouteEvent, of route: RouteKey, at now: Instant) {
    if trace.isOn { trace.add(.route(route, event), at: now) }
  }

  /// Takes the trace entries made since the last call. The entries of one partition keep their
  /// order.
  package mutating func takeTrace() -> [TraceBatch] {
    guard trace.isOn else { return [] }
    var batches: [TraceBatch] = []
    if !trace.isEmpty { trace.take(into: &batches) }
    for index in partitions.indices where !partitions[index].trace.isEmpty {
      partitions[index].trace.take(into: &batches)
    }
    return batches
  }

  /// Steps a durable fact. Call `wake` after a batch of inputs.
  ///
  /// - Returns: the step's cost, as counted by `Partition.work`.
  @discardableResult
  package mutating func step(
    _ fact: Fact, in partition: PartitionID, ordinal: Ordinal, at now: Instant,
    into effects: inout [Effect]
  ) -> Int {
    let index = Int(partition.number)
    let before = partitions[index].messages.sent.count
    let work = partitions[index].work
    partitions[index].step(fact, ordinal: ordinal, at: now, into: &effects)
    for place in before..<partitions[index].messages.sent.count {
      sent(partitions[index].messages.sent[place])
    }
    return partitions[index].work - work
  }

  private mutating func sent(_ row: OutboxRow) {
    outbox.add(row, isFanOut: mayFanOut(row))
  }

  /// The journal's tail has been stepped, so the relay may send wakes from now on.
  ///
  /// - Returns: facts to journal that continue unfinished work.
  package mutating func recovered() -> [(PartitionID, Fact)] {
    isReplaying = false
    var unfinished: [(PartitionID, Fact)] = []
    for index in partitions.indices {
      partitions[index].trace.recoveryEnded()
      unfinished += partitions[index].unfinished.map { (partitions[index].id, $0) }
    }
    return unfinished
  }

  /// The daemon stops: no push begins any more. Pending changes wake their device after the
  /// restart.
  package mutating func drain() { isDraining = true }

  package mutating func acknowledged(
    _ reached: Acknowledged, by device: DeviceKey, at now: Instant? = nil
  ) {
    let home = PartitionID.home(of: device.user, in: device.scope)
    partitions[Int(home.number)].served(reached, by: device, at: now)
  }

  package mutating func attemptEnded(
    _ attempt: PushAttempt, _ verdict: Verdict, at now: Instant, into effects: inout [Effect]
  ) {
    let index = Int(attempt.id.partition.number)
    let verdict = partitions[index].believed(verdict, of: attempt.id)
    let wasStopped = routes[attempt.route]?.isStopped
    let subject = partitions[index].subject(of: attempt)
    guard
      let ended = routes[attempt.route]?.ended(verdict, of: attempt.id, about: subject, at: now)
    else { return }
    if let route = routes[attempt.route], route.isStopped != wasStopped {
      let reason = route.isStopped ? Verdict.Reason(route.lastError ?? "unknown") : nil
      note(reason.map { .stopped($0.text) } ?? .resumed, of: attempt.route, at: now)
      effects.append(.circuit(attempt.route, stoppedBy: reason))
    }
    if let settled = ended.settled { settle(settled, of: attempt.id, at: now, &effects) }
    if let stop = ended.pruning {
      note(.quarantine(until: stop?.until), of: attempt.route, at: now)
      effects.append(.pruning(attempt.route, stop))
    }
  }

  private mutating func settle(
    _ verdict: Verdict, of attempt: PushAttempt.ID, at now: Instant, _ effects: inout [Effect]
  ) {
    partitions[Int(attempt.partition.number)].ended(attempt, verdict, at: now, &effects)
  }

  /// Settles the reports of dead addresses that pruning held for a moment and has now decided on.
  private mutating func judge(at now: Instant, _ effects: inout [Effect]) {
    for key in routes.keys.sorted() {
      for judgement in routes[key]?.judged(at: now) ?? [] {
        settle(judgement.verdict, of: judgement.attempt, at: now, &effects)
        if case .gone(_, let reason) = judgement.verdict { effects.append(.retired(key, reason)) }
      }
    }
  }

  /// A poll or stream of the device is open at the courier.
  ///
  /// - Parameters:
  ///   - connection: distinguishes this poll or stream from earlier and later ones.
  ///   - after: the newest wake that the device says it has received.
  package mutating func connected(
    _ device: DeviceKey, _ connection: UInt64, after: UInt32?, at now: Instant,
    into effects: inout [Effect]
  ) {
    let home = PartitionID.home(of: device.user, in: device.scope)
    partitions[Int(home.number)].connected(device, connection, after: after, at: now, &effects)
  }

  /// The poll or stream ended.
  ///
  /// - Parameter isExpectedBack: the poll was answered, and the device should poll again.
  package mutating func left(
    _ device: DeviceKey, _ connection: UInt64, isExpectedBack: Bool, at now: Instant
  ) {
    let home = PartitionID.home(of: device.user, in: device.scope)
    partitions[Int(home.number)].left(
      device, connection, isExpectedBack: isExpectedBack, at: now)
  }

  package mutating func delivered(_ row: OutboxRow.Key, from source: PartitionID) {
    outbox.remove(row, from: source)
    partitions[Int(source.number)].messages.delivered(row)
  }

  /// Copies everything that is not yet in a cut, at one moment. At most one cut is under way.
  ///
  /// - Parameter leftOut: partitions to leave out, because they are large, or because only some
  ///   facts of one request are stepped there and their effects must become visible together.
  package mutating func cut(at now: Instant, without leftOut: Set<PartitionID> = []) -> Cut {
    var cuts: [PartitionCut] = []
    for index in partitions.indices
    where partitions.ask(index, { $0.isDirty }) && !leftOut.contains(partitions[index].id) {
      cuts.append(partitions[index].cut())
    }
    return Cut(at: now, partitions: cuts)
  }

  package mutating func folded(_ cut: Cut, at now: Instant, into effects: inout [Effect]) {
    for part in cut.partitions {
      offer(partitions[Int(part.id.number)].folded(at: now))
    }
    wake(at: now, into: &effects)
  }

  /// Begins the pushes that may go out now. The caller calls `wake` after each batch of inputs and
  /// at `nextTimer`.
  package mutating func wake(at now: Instant, into effects: inout [Effect]) {
    guard !isReplaying, !isDraining else { return }
    judge(at: now, &effects)
    for index in partitions.indices { partitions[index].retireLapsed(at: now, &effects) }
    var left = Self.evaluatedAnewAtOnce
    for index in partitions.indices where left > 0 {
      left -= partitions[index].markOutdated(atMost: left)
    }
    forgetIDs(at: now, into: &effects)
    for index in partitions.indices where partitions[index].isTickDue(at: now) {
      effects.append(.journal(partitions[index].id, .tick))
    }
    var isAsked = true
    // A lane whose turn made no push is evaluated once more, to find what the lane waits for now.
    while isAsked {
      for index in partitions.indices { offer(partitions[index].ready(at: now)) }
      isAsked = false
      for key in routes.keys.sorted() {
        isAsked = send(on: key, at: now, into: &effects) || isAsked
      }
    }
  }

  /// When `wake` should be called again if no other input comes.
  package var nextTimer: Instant? {
    guard !isDraining else { return nil }
    var earliest = Instant.never
    for index in partitions.indices {
      earliest = min(earliest, partitions[index].nextTimer ?? .never)
    }
    for (key, route) in routes where !withdrawn.contains(key) {
      earliest = min(earliest, route.nextTimer ?? .never)
    }
    return earliest == .never ? nil : earliest
  }

  private mutating func offer(_ lanes: [ReadyLane]) {
    for lane in lanes {
      // The courier has at most one unread answer for each device, so a device that does not read
      // delays no other device.
      let inFlightMax =
        lane.isOverCourier ? limits.courierConnections : limits.inFlightPerRoute
      let fresh = Route(
        inFlightMax: inFlightMax, probe: policy.probe, pruning: policy.pruning,
        outageDevices: lane.route.transport.isOneProvider ? Circuit.outageDevicesDefault : nil,
        inFlightPerUser: lane.route.transport == .webpush ? Route.inFlightPerUser : nil)
      routes[lane.route, default: fresh].offer(lane)
    }
  }

  /// - Returns: true if a lane had its turn.
  private mutating func send(
    on key: RouteKey, at now: Instant, into effects: inout [Effect]
  ) -> Bool {
    guard !withdrawn.contains(key) else { return false }
    var hadTurn = false
    while let lane = routes[key]?.next(at: now) {
      hadTurn = true
      let index = Int(lane.partition.number)
      let begun = partitions[index].begin(lane, at: now, wallAhead: wallAhead)
      guard let attempt = begun else {
        routes[key]?.declined(lane)
        continue
      }
      routes[key]?.began(attempt.id, of: lane)
      effects.append(.push(attempt))
    }
    return hadTurn
  }
}
