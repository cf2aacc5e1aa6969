import RelayCore
import RelayMemory

/// The faults of the machine.
struct FaultState {
  /// True once the faults are over; from then on everything works.
  var isOver = false
  /// How far the wall clock is ahead of the world's time.
  var wallAhead = Span.zero
  var backup: (store: SimulatedStore, at: Instant)?
  var crashes: [Instant] = []
  /// The times at which the relay's time caught up with the clock.
  var corrections: [Instant] = []
}

/// Every fact that became durable.
struct DurableFacts {
  /// The facts, in the order in which they became durable.
  var facts: [JournalEntry] = []
  /// For each durable fact that this life has not stepped yet, its index in `facts`.
  var unstepped: [FactPlace: Int] = [:]
  /// When a change, a part of a change or a subscription was last stepped.
  var lastWork = World.start
}

/// The lives of the daemon, and the answers of its store.
extension World {
  /// The machine's clocks.
  var moment: Coordinator.Moment {
    Coordinator.Moment(
      wall: now + faults.wallAhead, boot: Instant(milliseconds: (now - World.start).milliseconds))
  }

  static let routes = Set(
    (UInt8(0)...1).map { RouteKey(scope: scope, transport: .apns, topic: topic(of: $0)) })

  func boot() throws {
    guard daemon == nil else { return }
    life += 1
    drawClock()
    store.claim(era: draw.next() | 1)
    var settings = plan.settings
    if mutant == .commitsEverything { settings.work.commit = WorkBounds.Commit() }
    if plan[.explained] > 0 { store.trace.begin(at: now, isWhole: true) }
    let daemon = SimulatedDaemon(
      store: store, settings: settings, routes: World.routes.subtracting(providers.missing),
      at: moment,
      forgetsTime: mutant == .believesClocks, isUnbounded: mutant == .neverRefuses)
    self.daemon = daemon
    (providers.waiting, providers.recalled) = ([], [])
    observer.lifeBegan()
    tell?("  life \(life) begins")
    // The first turn marks the feeds that have unfolded entries, before any reader is served.
    try turn()
    daemon.begin()
  }

  func crash(_ why: String) {
    guard let daemon else { return }
    outcome.reached.formUnion(daemon.coordinator.reached)
    self.daemon = nil
    // The next life steps the facts that were durable and not stepped.
    for place in durable.unstepped.values.sorted() {
      count(durable.facts[place], isFanningOut: true)
    }
    observer.witness.crashed()
    durable.unstepped = [:]
    tell?("  \(why)")
    faults.crashes.append(now)
    outcome.counts[.crashes] += 1
    for index in clients.indices {
      for key in Array(clients[index].follows.keys) {
        clients[index].follows[key]?.isFetching = false
      }
    }
    for index in clients.indices where clients[index].line != nil {
      clients[index].line = nil
      soonAtCourier(20_000, .connect(client: index))
    }
    soon(3_000, .recover)
  }

  /// Replaces the store with its copy; everything since the copy is lost.
  func restore() {
    guard plan[.restores] > 0, let backup = faults.backup else { return }
    crash("a restore from the copy of +\((backup.at - World.start).milliseconds) ms")
    store = backup.store
    outcome.counts[.restores] += 1
    durable.facts = durable.facts.filter { $0.ordinal <= store.world.last(of: $0.partition) }
    model = Model(scope: World.scope, limits: plan.limits)
    for row in durable.facts { model.apply(row, isFanningOut: true) }
    observer.restored()
    observer.witness.isOn = false
    for index in operations.indices { operations[index].isAnswered = true }
    producers.shares = []
    for index in clients.indices {
      let follows = clients[index].follows
      for (key, follow) in follows {
        let isLost = isLost(follow, key, clients[index].user)
        clients[index].follows[key]?.tokenIsVoid = isLost ? .noTokenIsForged : nil
      }
    }
  }

  /// Whether a token names a place that the restored store never reached.
  private func isLost(_ follow: Follow, _ key: FeedKey, _ user: UserID) -> Bool {
    guard let token = follow.token,
      case .place(let place) = ChangeToken.open(token, feed: key, reader: user, with: World.keys)
    else { return false }
    let last = store.world.last(of: key.partition)
    return !store.world.eras(of: key).knows(place.era) || place.newest.ordinal > last
  }

  /// The store's answer to a commit: success, failure, or a crash with an unknown outcome.
  func committed() throws {
    guard let daemon, !daemon.appending.isEmpty else { return }
    let rows = daemon.appending.map { authored($0) }
    daemon.appending = []
    let bytes = World.bytes(of: rows)
    if draw.permille(plan[.commitFull]) {
      return daemon.add(.appended(.failure(StoreError(.full, "no room"))))
    }
    if bytes > plan.commitBytes {
      let code: StoreError.Code = mutant == .triesForEver ? .full : .tooLarge
      return daemon.add(.appended(.failure(StoreError(code, "\(bytes) bytes"))))
    }
    if draw.permille(plan[.commitUnknown]) {
      if draw.below(2) == 0 { try journalled(rows) }
      return crash("a commit of unknown outcome")
    }
    try journalled(rows)
    daemon.add(.appended(.success(())))
  }

  /// Makes the entries durable: from now on they survive everything except a restore.
  private func journalled(_ rows: [JournalEntry]) throws {
    try checkTime(rows)
    try checkWhole(rows)
    store.world.append(rows)
    for row in rows {
      durable.unstepped[FactPlace(partition: row.partition, ordinal: row.ordinal)] =
        durable.facts.count
      durable.facts.append(row)
    }
  }

  /// - Parameter effects: what the step caused; `nil` if no life has stepped the fact yet.
  func count(_ row: JournalEntry, isFanningOut: Bool, _ effects: [Effect]? = nil) {
    model.apply(row, isFanningOut: isFanningOut)
    observer.witness.stepped(row, effects, isFanningOut: isFanningOut, model)
    outcome.counts.count(row.fact)
    switch row.fact {
    case .change, .slice, .forwarded, .modify: durable.lastWork = now
    default: break
    }
    if case .change(let change) = row.fact, case .granted(let user) = change.event {
      observer.answered.ended.remove(WorldObserver.Share(zone: change.zone, user: user))
    }
    tell?("  \(row.partition.number)/\(row.ordinal.number) \(row.fact.line)")
  }

  /// The store's answer to a fold: success, failure, or a crash with an unknown outcome.
  func folded() throws {
    guard let daemon, let cut = daemon.folding else { return }
    daemon.folding = nil
    if draw.permille(plan[.foldFull]) {
      return daemon.add(.folded(.failure(StoreError(.full, "no room"))))
    }
    if draw.permille(plan[.foldUnknown]) {
      // The cut must be whole whether the fold is written or not.
      try checkWhole(cut)
      if draw.below(2) == 0 { _ = store.world.fold(cut) }
      return crash("a fold of unknown outcome")
    }
    try checkWhole(cut)
    let rows = store.world.fold(cut)
    outcome.counts[.folds] += 1
    if draw.permille(plan[.foldUnknown] * 3) { _ = store.world.fold(cut) }
    try checkBounds(cut)
    daemon.add(.folded(.success(rows)))
  }

  /// Stops the daemon cleanly: folds its last cut, if there is one. From this cut the next life
  /// knows when this life stopped and which wake numbers it used. So the next life skips no number.
  func stopped(_ last: Cut?) {
    outcome.counts[.stops] += 1
    if let last { _ = store.world.fold(last) }
    crash("a clean stop")
  }
}

/// A planted bug: the daemon loses the author of a change, while the journal keeps the author.
extension World {
  func anonymous(_ fact: Fact) -> Fact {
    guard mutant == .forgetsAuthors, case .change(var change) = fact else { return fact }
    producers.hidden[change.notification] = change.author
    change.author = nil
    return .change(change)
  }

  func authored(_ row: JournalEntry) -> JournalEntry {
    guard mutant == .forgetsAuthors, case .change(var change) = row.fact else { return row }
    change.author = producers.hidden[change.notification]
    var row = row
    row.fact = .change(change)
    return row
  }
}
