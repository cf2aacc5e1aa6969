import RelayCore

extension SimulatedStore {
  /// Brings a cut in, in one transaction; repeatable.
  ///
  /// - Returns: outbox rows of addresses that moved.
  mutating func fold(_ cut: Cut) -> [OutboxRow] {
    latest = max(latest, cut.at)
    return cut.partitions.flatMap { fold($0, at: cut.at) }
  }

  private mutating func fold(_ cut: PartitionCut, at: Instant) -> [OutboxRow] {
    let index = Int(cut.id.number)
    guard cut.cursor >= partitions[index].cursor else { return [] }
    for feed in cut.feeds { apply(feed, at: at) }
    for expiry in cut.expiries { expire(expiry, in: cut.id) }
    partitions[index].apply(cut)
    for key in cut.devicesRemoved {
      partitions[index].devices[key] = nil
      holders = holders.filter { $0.value.key != key }
    }
    let made = cut.devices.compactMap { save($0, in: cut.id) }
    for row in made { partitions[index].outbox[row.key] = row }
    return made
  }

  private mutating func apply(_ cut: FeedCut, at: Instant) {
    var feed = feeds[cut.feed] ?? StoredFeed()
    feed.state.cleared = max(feed.state.cleared, cut.cleared ?? .zero)
    feed.state.floor = max(feed.state.floor, cut.floor ?? .zero, feed.state.cleared)
    feed.state.hasGap = cut.gap ?? feed.state.hasGap
    for item in cut.deltas where item.delta.last.position > feed.state.cleared {
      let standing = feed.entries[item.subject].flatMap {
        $0.life.position > feed.state.cleared ? $0 : nil
      }
      let entry = Fold.fold(
        standing, item.delta, subject: item.subject, floor: feed.state.floor)
      feed.state.head = max(feed.state.head, entry.life.position)
      guard entry != standing else { continue }
      feed.entries[item.subject] = entry
      feed.kept[item.subject] = at
    }
    for marks in cut.marks {
      let visible = feed.entries.values.filter { $0.life.position > feed.state.cleared }
      for entry in Fold.mark(visible, marks) {
        feed.state.head = max(feed.state.head, entry.life.position)
        feed.entries[entry.subject] = entry
        feed.kept[entry.subject] = at
      }
    }
    if case .notifications = cut.feed.kind { feed.bound(to: limits.notificationsPerUser) }
    feeds[cut.feed] = feed
  }

  private mutating func expire(_ expiry: FeedExpiry, in partition: PartitionID) {
    for (key, feed) in feeds where key.partition == partition {
      let owner =
        switch key.kind {
        case .notifications(let user), .database(let user, _): user
        case .zone(let zone): zone.owner
        }
      guard expiry.of.user == nil || expiry.of.user == owner else { continue }
      feeds[key]?.state.floor = max(feed.state.floor, expiry.floor)
    }
  }

  /// An address belongs to one registration: the newest wins.
  private mutating func save(_ row: DeviceRow, in partition: PartitionID) -> OutboxRow? {
    let index = Int(partition.number)
    let known = partitions[index].devices.updateValue(row, forKey: row.key)
    guard known?.registration != row.registration || known?.address != row.address else {
      return nil
    }
    for (place, holder) in holders where holder.key == row.key { holders[place] = nil }
    guard !row.address.token.isEmpty else { return nil }
    let place = HeldAddress(scope: row.key.scope, address: row.address)
    guard let holder = holders[place] else {
      holders[place] = row
      return nil
    }
    let loser: DeviceRow
    if row.isNewer(than: holder) {
      holders[place] = row
      loser = holder
    } else {
      loser = row
    }
    let serial = Position(row.registration, index: 60_000)
    return OutboxRow(
      source: partition, key: OutboxRow.Key(target: loser.key.home, serial: serial),
      message: .displaced(Displacement(device: loser.key, registration: loser.registration)))
  }

  /// Removes some tombstones and notifications that are old, and raises floors to them.
  mutating func trim(before: Instant) {
    for key in feeds.keys.sorted() {
      guard var feed = feeds[key] else { continue }
      let isNotifications = if case .notifications = key.kind { true } else { false }
      for (subject, entry) in feed.entries {
        guard let kept = feed.kept[subject], kept < before,
          isNotifications || !entry.life.isPresent
        else { continue }
        feed.entries[subject] = nil
        feed.state.floor = max(feed.state.floor, entry.life.position)
      }
      feeds[key] = feed
    }
  }
}

extension DeviceRow {
  fileprivate func isNewer(than other: DeviceRow) -> Bool {
    if key.home == other.key.home { return registration > other.registration }
    if registeredAt != other.registeredAt { return registeredAt > other.registeredAt }
    return other.key < key
  }
}

extension DeviceKey {
  var home: PartitionID { .home(of: user, in: scope) }
}

extension StoredPartition {
  mutating func apply(_ cut: PartitionCut) {
    cursor = cut.cursor
    journal.removeAll { $0.ordinal <= cut.cursor }
    for key in cut.subscriptionsRemoved { subscriptions[key] = nil }
    for row in cut.subscriptions { subscriptions[row.key] = row }
    for row in cut.grants {
      grants[MemberRow.Key(scope: row.scope, zone: row.zone, participant: row.participant)] = row
    }
    for key in cut.membersRemoved { members[key] = nil }
    for row in cut.members { members[row.key] = row }
    let last = remembered.last?.ordinal ?? .zero
    remembered += cut.remembered.filter { $0.ordinal > last }
    remembered.removeAll { $0.ordinal <= cut.forgotten }
    for row in cut.outbox { outbox[row.key] = row }
    for key in cut.delivered { outbox[key] = nil }
    for row in cut.numbers {
      let key = FeedKey(scope: row.scope, kind: .zone(row.zone))
      numbers[key] = row.numbers.isEmpty ? nil : row
    }
    for item in cut.heard { heard[item.source] = max(heard[item.source] ?? .zero, item.serial) }
    fanOuts = cut.fanOuts ?? fanOuts
    for interest in cut.interests { interests[interest.scope, default: 0] |= interest.partitions }
    for row in cut.badges { badges[row.key] = row.count == 0 ? nil : row }
    isRestoreProven = cut.isRestoreProven ?? isRestoreProven
  }
}

extension StoredFeed {
  mutating func bound(to limit: Int) {
    guard entries.count > limit else { return }
    let oldest = entries.values.sorted { $0.life.position < $1.life.position }
    for entry in oldest.prefix(entries.count - limit) {
      entries[entry.subject] = nil
      state.floor = max(state.floor, entry.life.position)
    }
  }
}
