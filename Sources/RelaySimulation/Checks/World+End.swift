import RelayCore
import RelayMemory

/// The checks after the faults have stopped and time has passed: all state must be as promised.
extension World {
  func checkTheEnd() throws {
    guard let daemon else {
      throw InvariantViolation(.catchUpIsWhole, "the daemon did not come back")
    }
    for fingerprint in observer.accepted {
      try demand(
        .nothingAcknowledgedIsLost, model.fingerprints.contains(fingerprint),
        "change \(fingerprint) was accepted, and is lost")
    }
    if let open = operations.firstIndex(where: { !$0.isAnswered }) {
      throw InvariantViolation(
        .everyDeviceIsWoken,
        "operation \(open) was never answered: \(operations[open].facts[0].line)")
    }
    try demand(.catchUpIsWhole, daemon.isAtRest, "the daemon does not come to rest")
    for index in clients.indices { try follow(index) }
    outcome.counts[.settled] += model.settled
    outcome.counts[.feedback] += store.feedback.count
    outcome.counts[.silences] += store.feedback.count { $0.isSilence }
    for id in PartitionID.all {
      let tables = store.tables(of: id)
      try checkWoken(tables)
      try checkFeedback(tables)
      try checkPending(tables, daemon.coordinator.ledger(of: id))
    }
  }

  /// P12: the ledger's pending deliveries are those that the lanes hold.
  private func checkPending(_ tables: PartitionTables, _ ledger: Ledger) throws {
    let isFlying = tables.devices.contains { observer.inFlight[$0.key] != nil }
    let held = tables.devices.reduce(0) { $0 + $1.lane.pending.deliveries }
    try demand(
      .theLedgerBalances, isFlying || Int64(held) == ledger.pending,
      "partition \(tables.id.number) holds \(held): \(ledger.line)")
  }

  /// P2: every client reaches exactly the net state, from any position.
  private func follow(_ index: Int) throws {
    let user = clients[index].user
    for feed in World.feeds(of: user) { try follow(index, feed) }
    let own = (model.zones.filter { $0.value.isAlive }.keys).filter { $0.owner == user }
    try compare(index, .database(user, .private), Set(own))
    try compare(index, .database(user, .shared), model.shared[user] ?? [])
    for zone in (own + (model.shared[user] ?? [])).sorted() {
      try follow(index, FeedKey(scope: World.scope, kind: .zone(zone)))
      try compareRecords(index, zone)
      try compareGap(zone)
    }
    try compareNotifications(index, user)
  }

  private func follow(_ index: Int, _ feed: FeedKey) throws {
    let user = clients[index].user
    if clients[index].follows[feed] == nil { clients[index].follows[feed] = Follow() }
    for _ in 0..<5_000 {
      var place: FeedCursor?
      if let token = clients[index].follows[feed]?.token,
        case .place(let opened) = ChangeToken.open(
          token, feed: feed, reader: user, with: World.keys)
      {
        place = opened
      }
      let query = PageQuery(
        feed: feed, reader: user, after: place, limit: draw.from(1...plan.pageMax))
      switch store.page(query) {
      case .absent:
        throw InvariantViolation(.catchUpIsWhole, "\(user) cannot see \(feed.text) at the end")
      case .expired: clients[index].follows[feed] = Follow()
      case .page(let page):
        show(page, index, feed)
        if !page.hasMore { return }
      }
    }
    throw InvariantViolation(
      .catchUpIsWhole, "a client keeps asking \(feed.text) and does not arrive")
  }

  private func compare(_ index: Int, _ kind: FeedKey.Kind, _ zones: Set<ZoneID>) throws {
    let held = clients[index].follows[FeedKey(scope: World.scope, kind: kind)]?.held ?? [:]
    let expected = Set(zones.map { Subject.zone($0) })
    try demand(
      .catchUpIsWhole, Set(held.keys) == expected,
      "\(kind) of client \(index): \(held.keys.map(\.text).sorted())"
        + " is not \(expected.map(\.text).sorted())")
  }

  private func compareRecords(_ index: Int, _ zone: ZoneID) throws {
    let feed = FeedKey(scope: World.scope, kind: .zone(zone))
    let held = clients[index].follows[feed]?.held ?? [:]
    let records = model.zones[zone]?.records ?? [:]
    let expected = Dictionary(
      uniqueKeysWithValues: records.map { (Subject.record($0.key), $0.value ?? "-") })
    try demand(
      .catchUpIsWhole, held == expected,
      "\(feed.text) of client \(index): \(held.line) is not \(expected.line)")
  }

  /// P2: a zone with numbered changes that never came reports a gap; no other zone does.
  private func compareGap(_ zone: ZoneID) throws {
    let feed = FeedKey(scope: World.scope, kind: .zone(zone))
    let shown = store.world.feeds[feed]?.state.hasGap ?? false
    let expected = model.numbers[zone]?.hasGap ?? false
    if shown { outcome.counts[.gaps] += 1 }
    try demand(
      .catchUpIsWhole, shown == expected, "\(feed.text) shows gap \(shown), it is \(expected)")
  }

  private func compareNotifications(_ index: Int, _ user: UserID) throws {
    if model.fuzzy.contains(user) { return }
    let feed = FeedKey(scope: World.scope, kind: .notifications(user))
    let held = clients[index].follows[feed]?.held ?? [:]
    let expected = (model.notifications[user] ?? [:]).filter(\.value.isPresent)
      .mapValues { $0.notification.text + ($0.isRead ? " read" : "") }
    let isTrimmed = observer.hasTrimmed || plan.limits.notificationsPerUser < 100
    // A read mark of a notification that was trimmed changes nothing.
    let isRight =
      isTrimmed
      ? held.allSatisfy { expected[$0.key]?.prefix(36) == $0.value.prefix(36) } : held == expected
    try demand(
      .catchUpIsWhole, isRight,
      "notifications of client \(index): \(held.line) is not \(expected.line)")
  }

  /// P5: a wake or a page has told the device of everything that pends.
  private func checkWoken(_ tables: PartitionTables) throws {
    for device in tables.devices {
      let key = device.key
      guard device.lane.retirement == nil, !observer.retired.contains(key),
        let since = observer.since[key], isReachable(device)
      else { continue }
      var told = observer.told[key] ?? WorldObserver.Told()
      // Newer alerts replaced older alerts and were then withdrawn. The next wake will report the
      // loss, so the check counts the lost alerts as told.
      if device.lane.pending.lostAlerts { told.lostAlerts = Ordinal(.max) }
      let feed = FeedKey(scope: World.scope, kind: .notifications(key.user))
      let entries = (store.world.feeds[feed]?.rows ?? [:]).values.map(\.entry)
      for entry in entries.sorted(by: { $0.life.position < $1.life.position }) {
        let position =
          entry.life.device == key.client ? entry.life.foreign : entry.life.position
        guard position.ordinal > since, position > told.notifications,
          // A read mark cancels an alert.
          let detail = entry.notification, !detail.isRead,
          !isWithdrawn(entry, detail, key.user, position),
          !isTold(entry, detail, told, position.ordinal)
        else { continue }
        throw InvariantViolation(
          .everyDeviceIsWoken,
          "\(key.line) never heard of \(entry.subject) at"
            + " \(position.ordinal.number): \(device.lane.pending)")
      }
    }
  }

  /// Whether the device can be reached. A device that has only the courier must be connected to it.
  private func isReachable(_ device: DeviceRow) -> Bool {
    device.address.transport != .courier || clients.contains { $0.line?.key == device.key }
  }

  private func isWithdrawn(
    _ entry: Entry, _ detail: NotificationDetail, _ user: UserID, _ position: Position
  ) -> Bool {
    guard case .notification(let subscription, let zone, _) = entry.subject else { return true }
    let all: [Withdrawal] = [
      .subscription(subscription, detail.database), .zone(zone, detail.database),
    ]
    return all.contains { model.withdrawn[user]?[$0] ?? .zero >= position.ordinal }
  }

  /// Whether the device was told of the entry. A background wake names the zone, or says that
  /// queries fired (`q`) or that more pends (`m`). An alert shows its subject. When the change
  /// matched, the subscription decided which of the two is sent. The check accepts either.
  private func isTold(
    _ entry: Entry, _ detail: NotificationDetail, _ told: WorldObserver.Told, _ ordinal: Ordinal
  ) -> Bool {
    guard case .notification(let subscription, let zone, let record) = entry.subject else {
      return true
    }
    let ref = PushText.ZoneRef(zone: zone, database: detail.database)
    let alert = WorldObserver.alert(subscription.name, ref, record)
    return max(
      told.zones[ref] ?? .zero, told.many, record == nil ? .zero : told.query,
      told.alerts[alert] ?? .zero, told.lostAlerts) >= ordinal
  }
}

extension Entry {
  fileprivate var notification: NotificationDetail? {
    if case .notification(let detail) = detail { detail } else { nil }
  }
}

extension [Subject: String] {
  fileprivate var line: String { "\(map { "\($0.key.text)=\($0.value)" }.sorted())" }
}
