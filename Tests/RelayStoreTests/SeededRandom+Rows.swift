import RelayCore

extension SeededRandom {
  /// A cut of random rows for one partition; `tables` becomes what a load must then return.
  mutating func rows(
    into tables: inout PartitionTables, of partition: PartitionID, at ordinal: Ordinal
  ) -> PartitionCut {
    var cut = PartitionCut(id: partition, cursor: ordinal)
    tables.cursor = ordinal
    users(&cut, &tables, ordinal)
    zones(&cut, &tables, ordinal)
    cut.remembered = (0..<3).map { _ in
      Remembered(ordinal: ordinal, at: instant(), fingerprint: next())
    }
    tables.remembered += cut.remembered
    if flag() {
      cut.forgotten = Ordinal(ordinal.number - 1)
      tables.remembered.removeAll { $0.ordinal <= cut.forgotten }
    }
    messages(&cut, &tables, partition, ordinal)
    badges(&cut, &tables, ordinal)
    cut.feedback = list(2) { $0.feedback() }
    return cut
  }

  private mutating func users(
    _ cut: inout PartitionCut, _ tables: inout PartitionTables, _ ordinal: Ordinal
  ) {
    if let gone = tables.subscriptions.first {
      cut.subscriptionsRemoved = [gone.key]
      tables.subscriptions.removeFirst()
    }
    for index in 0..<3 {
      var row = SubscriptionRow(
        scope: scope(), user: user(), serial: Position(ordinal, index: index),
        subscription: subscription())
      row.subscription.id = SubscriptionID("\(ordinal.number).\(index)" + text())
      cut.subscriptions.append(row)
    }
    if let known = tables.subscriptions.first {
      var changed = known
      let id = known.subscription.id
      changed.subscription = subscription()
      changed.subscription.id = id
      changed.subscription.database = known.subscription.database
      cut.subscriptions.append(changed)
      tables.subscriptions[0] = changed
    }
    tables.subscriptions += cut.subscriptions.prefix(3)

    if let gone = tables.devices.first {
      cut.devicesRemoved = [gone.key]
      tables.devices.removeFirst()
    }
    for _ in 0..<3 {
      let key = DeviceKey(scope: scope(), user: user(), client: client())
      var address = address()
      address.token += (0..<8).map { _ in UInt8(truncatingIfNeeded: next()) }
      cut.devices.append(
        DeviceRow(
          key: key, address: address, registeredAt: instant(), registration: ordinal,
          lane: lane()))
    }
    if !tables.devices.isEmpty {
      tables.devices[0].lane = lane()
      cut.devices.append(tables.devices[0])
    }
    tables.devices = (tables.devices + cut.devices.prefix(3)).sorted { $0.key < $1.key }
  }

  private mutating func zones(
    _ cut: inout PartitionCut, _ tables: inout PartitionTables, _ ordinal: Ordinal
  ) {
    for index in 0..<2 {
      cut.grants.append(
        GrantRow(
          scope: scope(), zone: zone(), participant: UserID("\(ordinal.number).\(index)"),
          isActive: true, floor: position()))
      let key = MemberRow.Key(
        scope: scope(), zone: zone(), participant: UserID("\(ordinal.number).\(index)"))
      cut.members.append(MemberRow(key: key, serial: Position(ordinal, index: index)))
    }
    if let gone = tables.members.first {
      cut.membersRemoved = [gone.key]
      tables.members.removeFirst()
    }
    tables.members += cut.members
    tables.grants += cut.grants
    if tables.grants.count > 4 {
      var gone = tables.grants.removeFirst()
      gone.isActive = false
      cut.grants.append(gone)
    }
    cut.revocations = [
      RevocationRow(scope: scope(), zone: zone(), last: Position(ordinal))
    ]
    if let gone = tables.revocations.first {
      tables.revocations.removeFirst()
      cut.revocations.append(RevocationRow(scope: gone.scope, zone: gone.zone, last: .zero))
    }
    tables.revocations += cut.revocations.prefix(1)
    tables.revocations.sort { ($0.scope, $0.zone) < ($1.scope, $1.zone) }
    tables.grants.sort {
      ($0.scope, $0.zone, $0.participant) < ($1.scope, $1.zone, $1.participant)
    }
  }

  private mutating func messages(
    _ cut: inout PartitionCut, _ tables: inout PartitionTables, _ partition: PartitionID,
    _ ordinal: Ordinal
  ) {
    if let gone = tables.outbox.first {
      cut.delivered = [gone.key]
      tables.outbox.removeFirst()
    }
    for target in [3, 9] {
      cut.outbox.append(
        OutboxRow(
          source: partition,
          key: OutboxRow.Key(target: PartitionID(target), serial: Position(ordinal)),
          message: message()))
    }
    tables.outbox += cut.outbox
    cut.heard = [
      Heard(source: self.partition(), serial: Position(ordinal, index: number(0..<65_536)))
    ]
    for item in cut.heard {
      tables.heard.removeAll { $0.hearing == item.hearing }
      tables.heard.append(item)
    }
    tables.heard.sort { $0.hearing < $1.hearing }
    let zone = ZoneID(name: "\(ordinal.number % 3)", owner: user())
    cut.numbers = [NumbersRow(scope: scope(), zone: zone, numbers: numbers())]
    if let known = tables.numbers.first {
      cut.numbers.append(
        NumbersRow(scope: known.scope, zone: known.zone, numbers: SequenceTracker()))
    }
    for row in cut.numbers {
      tables.numbers.removeAll { $0.scope == row.scope && $0.zone == row.zone }
      if !row.numbers.isEmpty { tables.numbers.append(row) }
    }
    tables.numbers.sort { ($0.scope, $0.zone) < ($1.scope, $1.zone) }
    fanOuts(&cut, &tables)
    let row = InterestRow(source: self.partition(), interest: interest())
    cut.interests = [row]
    tables.interests.removeAll {
      $0.source == row.source && $0.interest.key == row.interest.key
    }
    if row.interest.fields != .ended { tables.interests.append(row) }
    tables.interests.sort {
      ($0.interest.key, $0.source) < ($1.interest.key, $1.source)
    }
    cut.isRestoreProven = maybe { $0.flag() }
    tables.isRestoreProven = cut.isRestoreProven ?? tables.isRestoreProven
    if flag() {
      cut.expiries = [FeedExpiry(of: TokenExpiry(), floor: Position(ordinal))]
      tables.expired = Position(ordinal)
    }
  }

  /// One fan-out begins, one goes on and one ends.
  private mutating func fanOuts(_ cut: inout PartitionCut, _ tables: inout PartitionTables) {
    if var move = tables.fanOuts.first {
      (move.cursor, move.turn) = (position(), maybe { $0.position() })
      cut.fanOutsMoved = [move]
      (tables.fanOuts[0].cursor, tables.fanOuts[0].turn) = (move.cursor, move.turn)
    }
    if tables.fanOuts.count > 2 {
      cut.fanOutsEnded = [tables.fanOuts.removeLast().origin]
    }
    var out = fanOut()
    out.origin = cut.cursor
    cut.fanOuts = [out]
    tables.fanOuts.append(out)
    tables.fanOuts.sort { $0.origin < $1.origin }
  }

  private mutating func badges(
    _ cut: inout PartitionCut, _ tables: inout PartitionTables, _ ordinal: Ordinal
  ) {
    if let gone = tables.badges.first {
      cut.badges = [
        BadgeRow(scope: gone.key.scope, user: gone.key.user, topic: gone.key.topic, count: 0)
      ]
      tables.badges.removeFirst()
    }
    for index in 1...3 {
      let row = BadgeRow(
        scope: scope(), user: user(), topic: "\(ordinal.number).\(index)", count: index)
      cut.badges.append(row)
      tables.badges.append(row)
    }
    tables.badges.sort {
      ($0.key.scope, $0.key.user, $0.key.topic) < ($1.key.scope, $1.key.user, $1.key.topic)
    }
  }
}
