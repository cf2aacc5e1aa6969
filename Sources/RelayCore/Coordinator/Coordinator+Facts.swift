import OrderedCollections

/// Takes facts of callers and of the relay itself through the journal into the core.
extension Coordinator {
  mutating func admit(
    _ facts: [Fact], of request: RequestID, by submitter: Submitter, at now: Instant, boot: Instant
  ) {
    if case .full(let why) = relay.room(for: facts, besides: commit.reserved) {
      let (cause, branch): (Unavailable.Cause, Branch) =
        switch why {
        case .fanOuts: (.fanOutsFull, .fanOutsFull)
        case .forwards: (.forwardsFull, .forwardsFull)
        }
      reach(branch)
      let refusal = Unavailable(cause, retryAfterSeconds: 5)
      return actions += [.answer(request, .failure(refusal)), .release(request)]
    }
    let homes = facts.map(\.homes)
    requests.open(request, missing: homes.map(\.count), until: boot + settings.answerWithin)
    var places: OrderedDictionary<PartitionID, [Int]> = [:]
    for (place, homes) in homes.enumerated() {
      for home in homes { places[home, default: []].append(place) }
    }
    if places.count > 1 { reach(.requestInSeveralPartitions) }
    for (home, places) in places {
      // Room is reserved for each partition's facts until they are stepped.
      let need = relay.need(of: places.lazy.map { facts[$0] })
      let share = places.map { place in
        GroupCommit.Waiting(
          partition: home, fact: facts[place].accepted(at: now),
          origin: .request(RequestTicket(request: request, index: place)))
      }
      commit.add(share, of: submitter, need: need)
    }
  }

  /// Journals a fact that the relay itself has made. A slice first waits in the pacer, which hands
  /// out slices no faster than folds write their entries.
  mutating func journal(_ fact: Fact, in partition: PartitionID) {
    if case .slice = fact { return pacer.add(fact, in: partition) }
    commit.add(GroupCommit.Waiting(partition: partition, fact: fact, origin: .none))
  }

  /// Hands the next commit to the journal, if none is under way.
  mutating func startCommit(at now: Instant) {
    guard let entries = commit.next(at: now, room: roomInCut) else { return }
    actions.append(.append(entries))
  }

  /// How many facts may be journalled before the next cut, each counted as one entry. There is no
  /// bound while nothing waits for a fold. There is none either while the store refuses folds: no
  /// cut is near then, and facts that only need the journal continue.
  private var roomInCut: Int {
    isFoldAwaited && counters.storeTrouble == nil
      ? settings.work.entriesForReader - relay.uncutEntries - stepping.count : .max
  }

  mutating func appended() {
    if cut == nil { counters.storeWorks() }
    let durable = commit.committed()
    counters.unfolded += durable.reduce(0) { $0 + $1.facts.count }
    stepping.add(durable)
  }

  mutating func appendFailed(_ error: StoreError, at now: Instant) {
    if error.isPassing {
      reach(.commitRefused)
      actions.append(.event(.appendRefused(error)))
      counters.refused(error, at: now)
      end(commit.refused(retryAt: now + FoldSchedule.retry), because: error)
    } else if error.code == .tooLarge {
      end(commit.refusedForSize(), because: error)
    } else {
      actions.append(.failed(error, .append))
    }
  }

  private mutating func end(_ refused: GroupCommit.Refused, because error: StoreError) {
    switch refused {
    case .requests(let tickets):
      for ticket in tickets { refuse(ticket, error.refusal) }
    case .divided:
      reach(.commitDivided)
      actions.append(.event(.divided(error)))
    case .request(let ticket):
      reach(.requestRefused)
      actions.append(.event(.requestRefused(error)))
      refuse(ticket, .requestTooLarge)
    case .own(let fact):
      // An accepted change is not dropped: it is forwarded with its names and without its values.
      guard let smaller = fact.withoutValues else {
        return actions.append(.failed(error, .fact))
      }
      reach(.valuesLeftOut)
      actions.append(.event(.valuesLeftOut(error)))
      commit.putBack(smaller)
    }
  }

  private mutating func refuse(_ ticket: RequestTicket, _ cause: Unavailable.Cause) {
    requests.refuse(
      ticket.request, Unavailable(cause, retryAfterSeconds: 5), into: &actions)
  }

  /// Steps durable facts, as many as one turn allows. The effects of each fact are performed
  /// directly after its step, so that no answer is given before the effects that the answer
  /// promises.
  mutating func step(at now: Instant) {
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

  /// - Returns: the step's cost.
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

  /// Refuses new facts when too many wait for a fold, and accepts them again afterwards. The
  /// coordinator calls this after every step and after every fold.
  mutating func updateAdmission() {
    let hasRoom = settings.hasRoom(tail: counters.unfolded, entries: relay.uncutEntries)
    if !hasRoom { reach(.admissionEnded) }
    actions.append(.admission(hasRoom ? nil : .storeFull))
  }

  /// Journals messages from other partitions in their target partitions.
  mutating func deliverForwards() {
    guard !forwarding.isEmpty else { return }
    var targets: [GroupCommit.Waiting] = []
    var last: Forwarded.Message?
    for row in forwarding.take(for: relay) {
      if row.message != last {
        commit.add(message: targets)
        targets = []
      }
      last = row.message
      let forwarded = Forwarded(
        source: row.source, serial: row.key.serial, message: row.message)
      targets.append(
        GroupCommit.Waiting(
          partition: row.key.target, fact: .forwarded(forwarded),
          origin: .forward(row.key, from: row.source)))
    }
    if !targets.isEmpty { reach(.messagesDelivered) }
    if !forwarding.isEmpty { reach(.messageHeldForRoom) }
    commit.add(message: targets)
  }

  /// Journals the next slice of a wide change, if folds have kept up. No slice begins while the
  /// daemon stops; the wide change continues after the next start.
  mutating func startSlice() {
    guard !isStopping, !pacer.isEmpty else { return }
    guard let next = pacer.next(entries: relay.uncutEntries) else {
      if !pacer.isUnderWay { reach(.sliceHeldForFold) }
      return
    }
    reach(.sliceStarted)
    commit.add(GroupCommit.Waiting(partition: next.partition, fact: next.slice, origin: .none))
  }
}

extension StoreError {
  /// The cause with which callers and readers are refused after the store has refused a write.
  var refusal: Unavailable.Cause { code == .full ? .storeFull : .storeUnwritable }
}
