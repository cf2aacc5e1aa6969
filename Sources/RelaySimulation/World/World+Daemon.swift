import RelayCore

/// The daemon's lives, and what its store answers.
extension World {
  /// The machine's clocks.
  var moment: Coordinator.Moment {
    Coordinator.Moment(wall: now, boot: Instant(milliseconds: (now - World.start).milliseconds))
  }

  static let routes = Set(
    (UInt8(0)...1).map { RouteKey(scope: scope, transport: .apns, topic: topic(of: $0)) })

  func boot() throws {
    guard daemon == nil else { return }
    life += 1
    store.claim(era: draw.next() | 1)
    let daemon = Daemon(
      life: life, store: store, settings: plan.settings, routes: World.routes, at: moment)
    self.daemon = daemon
    (waiting, recalled) = ([], [])
    watch.lifeBegan(at: now, recovered: store)
    watch.recovered()
    tell?("  life \(life) begins")
    // What recovery has found unfolded is told before any reader is served.
    try turn()
    daemon.begin()
  }

  func crash(_ why: String) {
    guard daemon != nil else { return }
    daemon = nil
    // What was durable and not stepped is stepped by the next life.
    for place in unstepped.values.sorted() { count(history[place], isFanningOut: true) }
    unstepped = [:]
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

  /// The store answers for a commit.
  func committed() {
    guard let daemon, !daemon.appending.isEmpty else { return }
    let rows = daemon.appending.map { authored($0) }
    daemon.appending = []
    let bytes = rows.reduce(0) { $0 + $1.fact.footprint }
    if draw.permille(plan.commitFull) {
      return daemon.add(.appended(.failure(StoreError(.full, "no room"))))
    }
    if bytes > plan.commitBytes {
      return daemon.add(.appended(.failure(StoreError(.tooLarge, "\(bytes) bytes"))))
    }
    if draw.permille(plan.commitUnknown) {
      if draw.below(2) == 0 { journalled(rows) }
      return crash("a commit of unknown outcome")
    }
    journalled(rows)
    daemon.add(.appended(.success(())))
  }

  /// From here on these facts survive everything but a restore.
  private func journalled(_ rows: [JournalEntry]) {
    store.append(rows)
    for row in rows {
      unstepped[FactPlace(partition: row.partition, ordinal: row.ordinal)] = history.count
      history.append(row)
    }
  }

  func count(_ row: JournalEntry, isFanningOut: Bool) {
    model.apply(row, isFanningOut: isFanningOut)
    tally.count(row.fact)
    if case .change(let change) = row.fact, case .granted(let user) = change.event {
      watch.revoked.remove(Watch.Share(zone: change.zone, user: user))
    }
    tell?("  \(row.partition.number)/\(row.ordinal.number) \(row.fact.line)")
  }

  /// The store answers for a fold.
  func folded() throws {
    guard let daemon, let cut = daemon.folding else { return }
    daemon.folding = nil
    if draw.permille(plan.foldFull) {
      return daemon.add(.folded(.failure(StoreError(.full, "no room"))))
    }
    if draw.permille(plan.foldUnknown) {
      if draw.below(2) == 0 { _ = store.fold(cut) }
      return crash("a fold of unknown outcome")
    }
    let rows = store.fold(cut)
    tally.folds += 1
    if draw.permille(plan.foldUnknown * 3) { _ = store.fold(cut) }
    try checkBounds(cut)
    daemon.add(.folded(.success(rows)))
  }

  /// The next life has the exact numbers of wakes, and the time.
  func stopped() {
    guard let daemon else { return }
    tally.stops += 1
    if let last = daemon.lastCut(at: moment) { _ = store.fold(last) }
    crash("a clean stop")
  }
}

/// One planted fault: the daemon forgets who made a change, and the journal knows it.
extension World {
  func anonymous(_ fact: Fact) -> Fact {
    guard planted == .forgetsAuthors, case .change(var change) = fact else { return fact }
    authors[change.notification] = change.author
    change.author = nil
    return .change(change)
  }

  func authored(_ row: JournalEntry) -> JournalEntry {
    guard planted == .forgetsAuthors, case .change(var change) = row.fact else { return row }
    change.author = authors[change.notification]
    var row = row
    row.fact = .change(change)
    return row
  }
}
