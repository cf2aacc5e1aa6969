import OrderedCollections

/// A turn of the coordinator, in the order in which it runs: inputs, the commit, the step of each
/// durable fact, and the effects of each step.
extension Coordinator {
  /// The first half of a turn: handles inputs, and hands the next commit to the journal, which
  /// writes the commit while the second half steps facts. The shell then calls `proceed` with the
  /// same moment.
  ///
  /// - Parameters:
  ///   - inputs: what has happened since the last turn: first all requests in their order, then all
  ///     other inputs in their order.
  ///   - hasReaders: whether a reader waits for a fold now.
  package mutating func handle(
    _ inputs: [Input], hasReaders: Bool, at moment: Moment
  ) -> [Action] {
    self.hasReaders = hasReaders
    let now = read(moment)
    var effects: [Effect] = []
    for input in inputs { handle(input, at: now, boot: moment.boot, &effects) }
    // The pushes of these effects must be in flight before a step may recall them.
    perform(effects, at: now)
    startCommit(at: now)
    recordTrace()
    defer { actions = [] }
    return actions
  }

  /// The second half of a turn: steps durable facts, wakes devices, and starts a slice and a fold.
  ///
  /// - Parameter hasReaders: whether a reader waits for a fold now; the first half may have served
  ///   the readers that waited.
  package mutating func proceed(hasReaders: Bool, at moment: Moment) -> [Action] {
    self.hasReaders = hasReaders
    let now = clock.last
    step(at: now)
    deliverForwards()
    var effects: [Effect] = []
    relay.wake(at: now, into: &effects)
    perform(effects, at: now)
    startSlice()
    let next = startFold(at: now)
    // Forwards, ticks, slices, and facts that waited for the fold's cut are journalled in this
    // turn, and not in the next.
    startCommit(at: now)
    giveUp(at: moment.boot)
    stopIfDone(at: now)
    recordTrace()
    actions.append(.timer(stepping.isReady ? .zero : timer(at: now, fold: next, moment.boot)))
    defer { actions = [] }
    return actions
  }

  private mutating func handle(
    _ input: Input, at now: Instant, boot: Instant, _ effects: inout [Effect]
  ) {
    switch input {
    case .request(let id, let facts, let submitter):
      admit(facts, of: id, by: submitter, at: now, boot: boot)
    case .appended(.success): appended()
    case .appended(.failure(let error)): appendFailed(error, at: now)
    case .folded(.success(let rows)): folded(rows, at: now, &effects)
    case .folded(.failure(let error)): foldFailed(error, at: now)
    case .trimmed(let rows): trimmed(rows, at: now)
    case .verdict(let attempt, let verdict): ended(attempt, verdict, at: now, &effects)
    case .recalled(let place): for due in answers.recalled(place) { answer(due) }
    case .acknowledged(let reached, let device):
      relay.acknowledged(reached, by: device, at: now)
    case .connected(let device, let connection, let after):
      relay.connected(device, connection, after: after, at: now, into: &effects)
    case .left(let device, let connection, let isExpectedBack):
      relay.left(device, connection, isExpectedBack: isExpectedBack, at: now)
    case .reconfigured(let change): reconfigure(change, at: now)
    case .stop:
      guard stopBy == nil else { return }
      stopBy = now + settings.drainGrace
      relay.drain()
      actions.append(.event(.stopping(grace: settings.drainGrace)))
    }
  }

  private mutating func admit(
    _ facts: [Fact], of request: RequestID, by submitter: Submitter, at now: Instant, boot: Instant
  ) {
    if facts.isEmpty { return actions += [.answer(request, .success([])), .release(request)] }
    // The need of all facts. If all facts have the same home, as in most requests, this is also the
    // need of that home's share.
    let whole: ForwardNeed
    switch relay.room(for: facts, besides: commit.reserved) {
    case .free(let need): whole = need
    case .full(.fanOuts): return refuse(request, .fanOutsFull, reaching: .fanOutsFull)
    case .full(.forwards): return refuse(request, .forwardsFull, reaching: .forwardsFull)
    }
    let homes = facts.map { $0.homes }
    requests.open(request, missing: homes.map { $0.count }, until: boot + settings.answerWithin)
    var places: OrderedDictionary<PartitionID, [Int]> = [:]
    for (place, homes) in homes.enumerated() {
      for home in homes { places[home, default: []].append(place) }
    }
    if places.count > 1 { reach(.requestInSeveralPartitions) }
    for (home, places) in places {
      // Until the facts are stepped, room is reserved for the messages that these facts cause.
      let need = places.count == facts.count ? whole : relay.need(of: places.lazy.map { facts[$0] })
      let share = places.map { place in
        GroupCommit.Waiting(
          partition: home, fact: facts[place].accepted(at: now),
          origin: .request(RequestTicket(request: request, index: place)))
      }
      commit.add(share, of: submitter, need: need)
    }
  }

  private mutating func refuse(_ request: RequestID, _ why: Unavailable, reaching branch: Branch) {
    reach(branch)
    actions += [.answer(request, .failure(why)), .release(request)]
  }

  /// Journals a fact that the relay itself has made. A slice first waits in the pacer, which hands
  /// out slices no faster than folds write their entries.
  mutating func journal(_ fact: Fact, in partition: PartitionID) {
    if case .slice = fact { return pacer.add(fact, in: partition) }
    commit.add(GroupCommit.Waiting(partition: partition, fact: fact, origin: .none))
  }

  /// Hands the next commit to the journal, if none is under way.
  private mutating func startCommit(at now: Instant) {
    guard let entries = commit.next(at: now, room: roomInCut) else { return }
    actions.append(.append(entries))
  }

  /// How many facts may be journalled before the next cut, each counted as one entry. There is no
  /// bound while nothing waits for a fold. There is also no bound while the store refuses folds,
  /// because no cut is near then, and facts that only need the journal continue.
  private var roomInCut: Int {
    isFoldAwaited && counters.storeTrouble == nil
      ? settings.work.entriesForReader - relay.uncutEntries - stepping.count : .max
  }

  private mutating func appended() {
    if cut == nil { counters.storeWorks() }
    let durable = commit.committed()
    counters.unfolded += durable.reduce(0) { $0 + $1.facts.count }
    stepping.add(durable)
  }

  /// Steps durable facts, as many as one turn allows. The effects of each fact are performed
  /// directly after its step, so that no answer is given before the effects that the answer
  /// promises.
  private mutating func step(at now: Instant) {
    guard stepping.isReady else { return }
    stepping.beginTurn()
    while let next = stepping.next() {
      stepping.stepped(work: step(next.placed, at: now))
      if let need = next.frees { commit.stepped(need) }
    }
    if stepping.isReady { reach(.turnEnded) }
    if !settings.hasRoomInCut(entries: relay.uncutEntries) {
      if !stepping.isEmpty { reach(.steppingHeldForCut) }
      stepping.waitForCut()
    }
    updateAdmission()
  }

  /// - Returns: the step's cost, as counted by `Partition.work`.
  private mutating func step(_ item: GroupCommit.Placed, at now: Instant) -> Int {
    let entry = item.entry
    var effects: [Effect] = []
    let isFanningOut = observation.hasObserver && relay.isFanningOut(in: entry.partition)
    let work = relay.step(
      entry.fact, in: entry.partition, ordinal: entry.ordinal, at: entry.at, into: &effects)
    observation.stepped(Step(entry: entry, effects: effects, isFanningOut: isFanningOut))
    perform(effects, at: now, origin: item.origin)
    if case .slice = entry.fact { pacer.stepped() }
    if case .forward(let key, let source) = item.origin {
      relay.delivered(key, from: source)
      forwarding.delivered(key, from: source)
      for due in answers.delivered(key, from: source) { answer(due) }
    }
    return work
  }

  /// Refuses new facts while too many facts or entries wait for folds, and accepts new facts again
  /// afterwards. The coordinator calls this function after the steps of each turn, and when a fold
  /// has succeeded or failed.
  mutating func updateAdmission() {
    let hasRoom = settings.hasRoom(tail: counters.unfolded, entries: relay.uncutEntries)
    if !hasRoom { reach(.admissionEnded) }
    actions.append(.admission(hasRoom ? nil : .storeFull))
  }

  /// Performs the core's effects in their order. This is the only switch over effects.
  private mutating func perform(
    _ effects: [Effect], at now: Instant, origin: GroupCommit.Origin = .none
  ) {
    for effect in effects {
      switch effect {
      case .answer(let partition, let ordinal, let answer, let moment):
        settle(answer, moment, partition, ordinal, origin)
      case .dirtied(let place): actions.append(.dirtied(place))
      case .journal(let partition, let fact): journal(fact, in: partition)
      case .push(let attempt): push(attempt, at: now)
      case .recall(let attempts, let place):
        for attempt in attempts where pushes.contains(attempt) {
          reach(.pushRecalled)
          answers.waits(for: place)
          actions.append(.recall(attempt, for: place))
        }
      case .retired(let route, let reason): actions.append(.event(.retired(route, reason)))
      case .circuit(let route, let reason): actions.append(.event(.circuit(route, reason)))
      case .pruning(let route, let stop): actions.append(.event(.pruning(route, stop)))
      case .hurried(let scope): hurried(scope, at: now)
      case .hangUp(let device): actions.append(.hangUp(device))
      }
    }
  }

  private mutating func push(_ attempt: PushAttempt, at now: Instant) {
    if pushes.add(attempt) { return actions.append(.push(attempt)) }
    reach(.pushWithoutSender)
    // The route's lanes wait until a reload adds the route again.
    relay.withdraw(attempt.route, at: now)
    let reason = Verdict.Reason("no provider is configured for this route")
    var effects: [Effect] = []
    relay.attemptEnded(attempt, .later(after: nil, .unsent, reason), at: now, into: &effects)
    perform(effects, at: now)
  }

  private mutating func ended(
    _ attempt: PushAttempt, _ verdict: Verdict, at now: Instant, _ effects: inout [Effect]
  ) {
    pushes.ended(attempt.id)
    switch verdict {
    case .delivered, .gone, .later: break
    case .deliveredElsewhere, .tooLarge, .rejected:
      actions.append(.event(.answered(attempt, verdict)))
    }
    relay.attemptEnded(attempt, inRelayTime(verdict), at: now, into: &effects)
  }
}
