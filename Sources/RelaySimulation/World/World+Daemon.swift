import RelayCore

/// The daemon's life and what it asks of journal, store and clients.
extension World {
  func boot() {
    guard daemon == nil else { return }
    life += 1
    store.claim(era: draw.next() | 1)
    daemon = Daemon(life: life, store: store, limits: plan.limits, policy: plan.policy)
    (waiting, recalled) = ([], [])
    watch.lifeBegan(at: now, recovered: store)
    watch.recovered()
    tell?("  life \(life) begins")
  }

  func crash(_ why: String) {
    guard daemon != nil else { return }
    daemon = nil
    tell?("  \(why)")
    watch.crashes.append(now)
    tally.crashes += 1
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

  /// A copy of the store takes the place of the store: what came since is lost.
  func restore() {
    guard plan.restores > 0, let backup else { return }
    crash("a restore from the copy of +\((backup.at - World.start).milliseconds) ms")
    store = backup.store
    tally.restores += 1
    history = history.filter { $0.ordinal <= store.last(of: $0.partition) }
    model = Model(scope: World.scope, limits: plan.limits)
    for row in history { model.apply(row, isFanningOut: true) }
    watch.restored(store)
    for index in operations.indices { operations[index].isAnswered = true }
    for index in clients.indices {
      let follows = clients[index].follows
      for (key, follow) in follows {
        let isLost = isLost(follow, key, clients[index].user)
        clients[index].follows[key]?.isOfLostHistory = isLost
      }
    }
  }

  /// Whether a token names a place that the restored store never reached.
  private func isLost(_ follow: Follow, _ key: FeedKey, _ user: UserID) -> Bool {
    guard let token = follow.token,
      case .place(let place) = ChangeToken.open(token, feed: key, reader: user, with: keys)
    else { return false }
    let last = store.last(of: key.partition)
    return !store.eras(of: key).knows(place.era) || place.newest.ordinal > last
  }

  func startCommit() {
    guard let daemon else { return }
    let store = store
    guard daemon.startCommit(at: now, last: { store.last(of: $0) }) else { return }
    if planted == .answersEarly {
      for placed in daemon.commit {
        guard case .operation(let operation) = placed.origin,
          case .change = placed.row.fact
        else { continue }
        soon(3, .answer(operation: operation, .answer(.accepted)))
      }
    }
    soon(20, .committed(life: life))
  }

  func committed() throws {
    guard let daemon else { return }
    if draw.permille(plan.commitFull) {
      for operation in daemon.refuseCommit() { reply(operation, .unavailable) }
      return
    }
    let rows = daemon.commit.map(\.row)
    if draw.permille(plan.commitUnknown) {
      if draw.below(2) == 0 {
        journalled(rows)
        for row in rows { count(row, isFanningOut: true) }
      }
      return crash("a commit of unknown outcome")
    }
    journalled(rows)
    let placed = daemon.commit
    daemon.commit = []
    for item in placed {
      var effects: [Effect] = []
      let home = daemon.relay.partition(item.row.partition)
      count(item.row, isFanningOut: !home.unfinished.isEmpty)
      daemon.relay.step(
        item.row.fact.as(planted), in: item.row.partition, ordinal: item.row.ordinal,
        at: item.row.at, into: &effects)
      watch.stepped(item.row, effects)
      try perform(effects, origin: item.origin)
      if case .forward(let key, let source) = item.origin {
        for due in daemon.delivered(key, from: source) { reply(due) }
      }
    }
  }

  /// From here on these facts survive everything but a restore.
  private func journalled(_ rows: [JournalEntry]) {
    store.append(rows)
    history += rows
  }

  private func count(_ row: JournalEntry, isFanningOut: Bool) {
    model.apply(row, isFanningOut: isFanningOut)
    tally.count(row.fact)
    if case .change(let change) = row.fact, case .granted(let user) = change.event {
      watch.revoked.remove(Watch.Share(zone: change.zone, user: user))
    }
    tell?("  \(row.partition.number)/\(row.ordinal.number) \(row.fact.line)")
  }

  func perform(_ effects: [Effect], origin: Daemon.Origin = .none) throws {
    guard let daemon else { return }
    for effect in effects {
      switch effect {
      case .answer(let partition, let ordinal, let answer, let moment):
        guard case .operation(let operation) = origin else { continue }
        let due = Daemon.Due(
          operation: operation, answer: answer,
          place: Daemon.Place(partition: partition, ordinal: ordinal), moment: moment)
        if moment == .stepped { reply(due) } else { daemon.answers.append(due) }
      case .dirtied(let place): daemon.open.insert(place)
      case .journal(let partition, let fact):
        daemon.own.append(Daemon.Waiting(partition: partition, fact: fact, origin: .none))
      case .push(let attempt):
        try push(attempt)
        if planted == .pushesTwice { try push(attempt) }
      case .recall(let attempts, _): recall(attempts)
      case .retired, .pruning, .circuit, .hurried: break
      case .hangUp(let key): hangUp(key)
      }
    }
  }

  private func reply(_ due: Daemon.Due) { reply(due.operation, .answer(due.answer)) }

  func reply(_ operation: Int, _ reply: Reply) {
    if draw.permille(plan.answerLost) { return }
    soon(50, .answer(operation: operation, reply))
  }

  func startFold() {
    guard let daemon else { return }
    daemon.isFoldScheduled = false
    guard daemon.startFold(at: now) else { return }
    soon(80, .folded(life: life))
  }

  func folded() throws {
    guard let daemon, let cut = daemon.cut else { return }
    if draw.permille(plan.foldFull) {
      return soon(200, .folded(life: life))
    }
    if draw.permille(plan.foldUnknown) {
      if draw.below(2) == 0 { _ = store.fold(cut) }
      return crash("a fold of unknown outcome")
    }
    let rows = store.fold(cut)
    tally.folds += 1
    if draw.permille(plan.foldUnknown * 3) { _ = store.fold(cut) }
    try checkBounds(cut)
    var effects: [Effect] = []
    let due = daemon.folded(rows, at: now, into: &effects)
    for item in due { reply(item) }
    try perform(effects)
    let readers = daemon.readersInCut
    daemon.readersInCut = []
    for reader in readers { try read(reader) }
  }
}

extension Fact {
  /// What the driver steps: with one plant, something else than was journalled.
  fileprivate func `as`(_ planted: Planted?) -> Fact {
    guard planted == .forgetsAuthors, case .change(var change) = self else { return self }
    change.author = nil
    return .change(change)
  }
}
