/// The whole relay's decisions: its partitions and its routes. Exists once, and the coordinator
/// owns it.
///
/// Inputs are facts that are already durable, and what the world answered; outputs are effects.
package struct Relay: ~Copyable {
  var partitions: Partitions
  /// Messages that were not delivered yet.
  var outbox = OutboxLoad()
  private var routes: [RouteKey: Route]
  let limits: Limits
  private var policy: WakePolicy
  /// Routes that a reload took away: lanes wait at them as state, and nothing goes out.
  private var withdrawn: Set<RouteKey> = []
  /// Wakes wait for the end of recovery.
  private var isReplaying = true
  private var isDraining = false
  /// How far the wall clock is ahead of the instants given here: what a push says of time is told
  /// by the wall clock.
  package var wallAhead = Span.zero

  package init(_ tables: [PartitionTables], limits: Limits, policy: WakePolicy) {
    let byID = Dictionary(uniqueKeysWithValues: tables.map { ($0.id, $0) })
    partitions = Partitions(
      PartitionID.all.map { id in
        Partition(byID[id] ?? PartitionTables(id: id), limits: limits, policy: policy)
      })
    routes = [:]
    self.limits = limits
    self.policy = policy
    for row in tables.flatMap(\.outbox) { sent(row) }
  }

  package func partition(_ id: PartitionID) -> Partition { partitions[Int(id.number)] }
  /// One partition's, without a copy of the partition.
  package func ledger(of id: PartitionID) -> Ledger { partitions[Int(id.number)].ledger }
  package var ledger: Ledger {
    var sum = Ledger()
    for index in partitions.indices { sum = sum + partitions[index].ledger }
    return sum
  }
  /// A partition's newest fact that was stepped.
  func stepped(in id: PartitionID) -> Ordinal {
    partitions.ask(Int(id.number)) { $0.stepped }
  }

  /// Slices of a wide change are still to come there.
  func isFanningOut(in id: PartitionID) -> Bool {
    partitions.ask(Int(id.number)) { !$0.unfinished.isEmpty }
  }

  package var isDirty: Bool { isDirty(besides: []) }

  /// Whether a cut without these partitions has anything to write.
  package func isDirty(besides without: Set<PartitionID>) -> Bool {
    for index in partitions.indices
    where partitions.ask(index, { $0.isDirty }) && !without.contains(partitions[index].id) {
      return true
    }
    return false
  }

  /// Entries that the next cut brings into feeds, at most.
  package var uncutEntries: Int {
    var count = 0
    for index in partitions.indices { count += partitions[index].uncut }
    return count
  }

  /// Partitions that bring at least so many entries into feeds with the next cut.
  package func partitions(withUncut entries: Int) -> Set<PartitionID> {
    Set(partitions.indices.filter { partitions[$0].uncut >= entries }.map { PartitionID($0) })
  }

  func isAwaitingFold(_ id: PartitionID) -> Bool {
    partitions[Int(id.number)].wakes.isAwaitingFold
  }

  /// Routes that were ever used, in order; one that was withdrawn until its last attempt has ended.
  package var routesInOrder: [(key: RouteKey, route: Route)] {
    routes.filter { !withdrawn.contains($0.key) || $0.value.inFlight > 0 }
      .sorted { $0.key < $1.key }.map { (key: $0.key, route: $0.value) }
  }

  /// Lanes that one `wake` evaluates anew after a reload: some milliseconds.
  static let evaluatedAnewAtOnce = 4_096

  /// New rules from here on. Called between two steps; what was decided before stays. Lanes that
  /// wait are evaluated anew by the next calls of `wake`, so many each.
  package mutating func reconfigure(_ policy: WakePolicy, at now: Instant) {
    guard policy != self.policy else { return }
    self.policy = policy
    for index in partitions.indices { partitions[index].reconfigure(policy, at: now) }
    for key in routes.keys.sorted() {
      routes[key]?.reconfigure(probe: policy.probe, pruning: policy.pruning)
    }
  }

  /// The route has a provider again, or another one, so what stopped it may be over: who waits for
  /// it is not kept waiting for the next probe, and whoever rests is asked again.
  package mutating func renew(_ route: RouteKey, at now: Instant) {
    withdrawn.remove(route)
    routes[route]?.renew(at: now)
    for index in partitions.indices { partitions[index].renew(route, at: now) }
  }

  /// The route has no provider any more. What is in flight ends as usual; lanes wait there until
  /// `renew`.
  package mutating func withdraw(_ route: RouteKey) { withdrawn.insert(route) }

  /// Steps a durable fact. After a batch of inputs, call `wake`.
  ///
  /// - Returns: what it cost (`Partition.work`).
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

  /// The journal's tail has been stepped: from now on lanes wake.
  ///
  /// - Returns: facts to journal so that what was under way goes on.
  package mutating func recovered() -> [(PartitionID, Fact)] {
    isReplaying = false
    var unfinished: [(PartitionID, Fact)] = []
    for index in partitions.indices {
      unfinished += partitions[index].unfinished.map { (partitions[index].id, $0) }
    }
    return unfinished
  }

  /// The daemon stops: no push begins any more. What is pending wakes its device in the next life.
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
      effects.append(.circuit(attempt.route, stoppedBy: reason))
    }
    if let settled = ended.settled { settle(settled, of: attempt.id, at: now, &effects) }
    if let stop = ended.pruning { effects.append(.pruning(attempt.route, stop)) }
  }

  private mutating func settle(
    _ verdict: Verdict, of attempt: PushAttempt.ID, at now: Instant, _ effects: inout [Effect]
  ) {
    partitions[Int(attempt.partition.number)].ended(attempt, verdict, at: now, &effects)
  }

  /// Words against addresses that were held for a moment, and now count or do not.
  private mutating func judge(at now: Instant, _ effects: inout [Effect]) {
    for key in routes.keys.sorted() {
      for judgement in routes[key]?.pruning.judged(at: now) ?? [] {
        settle(judgement.verdict, of: judgement.attempt, at: now, &effects)
        if case .gone(_, let reason) = judgement.verdict { effects.append(.retired(key, reason)) }
      }
    }
  }

  /// A poll or stream of the device is open at the courier.
  ///
  /// - Parameters:
  ///   - connection: tells it from those before and after.
  ///   - after: the newest wake that the device says it has got.
  package mutating func connected(
    _ device: DeviceKey, _ connection: UInt64, after: UInt32?, at now: Instant,
    into effects: inout [Effect]
  ) {
    let home = PartitionID.home(of: device.user, in: device.scope)
    partitions[Int(home.number)].connected(device, connection, after: after, at: now, &effects)
  }

  /// It ended.
  ///
  /// - Parameter isExpectedBack: it was answered, and the next poll should follow.
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

  /// Everything not yet in a cut, copied at one moment. One cut is under way at a time.
  ///
  /// - Parameter leftOut: partitions that are not in it: because a request's facts for them are
  ///   stepped in part only, and what they change becomes visible together; or because they are
  ///   large.
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

  /// Asks lanes and routes what may go out now. Call after each batch of inputs and at `nextTimer`.
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
    // A lane that had nothing to tell when its turn came is asked once more what it waits for.
    while isAsked {
      for index in partitions.indices { offer(partitions[index].ready(at: now)) }
      isAsked = false
      for key in routes.keys.sorted() {
        isAsked = send(on: key, at: now, into: &effects) || isAsked
      }
    }
  }

  /// When `wake` should be called again, though nothing else happens.
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
      // A device that does not read holds up no other: the courier has one unread answer each.
      let inFlightMax =
        lane.isOverCourier ? limits.courierConnections : limits.inFlightPerRoute
      let fresh = Route(
        inFlightMax: inFlightMax, probe: policy.probe, pruning: policy.pruning,
        outageDevices: lane.route.transport.isOneProvider ? Route.outageDevicesDefault : nil,
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
