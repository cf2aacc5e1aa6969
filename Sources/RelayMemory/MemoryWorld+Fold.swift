package import RelayCore

extension MemoryWorld {
  /// Folds a cut in one transaction. The same cut may be folded again.
  ///
  /// - Returns: the messages that tell partitions which of their devices lost an address by this
  ///   fold.
  package mutating func fold(_ cut: Cut) -> [OutboxRow] {
    for partition in cut.written(of: PartitionID.all) {
      let index = Int(partition.number)
      partitions[index].time = max(partitions[index].time, cut.at)
    }
    if cut.isLast { for index in partitions.indices { partitions[index].isStopped = true } }
    return cut.partitions.flatMap { fold($0, at: cut.at) }
  }

  private mutating func fold(_ cut: PartitionCut, at: Instant) -> [OutboxRow] {
    let index = Int(cut.id.number)
    guard cut.cursor >= partitions[index].cursor else { return [] }
    for feed in cut.feeds { apply(feed, at: at) }
    for expiry in cut.expiries { expire(expiry, in: cut.id) }
    partitions[index].apply(cut)
    feedback.append(cut.feedback, at: at, limit: limits.feedbackItems)
    for key in cut.devicesRemoved {
      partitions[index].devices[key] = nil
      holders = holders.filter { $0.value.key != key }
    }
    let made = cut.devices.compactMap { save($0, in: cut.id) }
    for row in made { partitions[index].outbox[row.key] = row }
    return made
  }

  private mutating func apply(_ cut: FeedCut, at: Instant) {
    var feed = self.feed(cut.feed)
    if let cleared = cut.cleared, cleared > feed.state.cleared {
      feed.state.cleared = cleared
      feed.isClearing = true
    }
    feed.state.floor = max(feed.state.floor, cut.floor ?? .zero, feed.state.cleared)
    feed.state.hasGap = cut.gap ?? feed.state.hasGap
    for item in cut.deltas where item.delta.last.position > feed.state.cleared {
      let standing = feed.rows[item.subject]?.entry
      let visible = standing.flatMap { $0.life.position > feed.state.cleared ? $0 : nil }
      let entry = Fold.fold(
        visible, item.delta, subject: item.subject, floor: feed.state.floor)
      feed.state.head = max(feed.state.head, entry.life.position)
      guard entry != standing else { continue }
      feed.keep(entry, at: at)
    }
    for marks in cut.marks { feed.mark(marks, at: at) }
    if cut.feed.isBounded {
      feed.bound(to: limits.notificationsPerUser)
      feed.state.floor = max(feed.state.floor, cut.trimmed ?? .zero)
    } else {
      feed.boundTombstones(
        to: limits.subjectsMax(in: cut.feed),
        most: Limits.tombstonesRemoved(with: cut.deltas.count))
    }
    feeds[cut.feed] = feed
  }

  private mutating func expire(_ expiry: FeedExpiry, in partition: PartitionID) {
    for (key, feed) in feeds where key.partition == partition && expiry.of.means(key) {
      feeds[key]?.state.floor = max(feed.state.floor, expiry.floor)
    }
    partitions[Int(partition.number)].keep(expiry)
  }

  private mutating func save(_ row: DeviceRow, in partition: PartitionID) -> OutboxRow? {
    let index = Int(partition.number)
    let known = partitions[index].devices.updateValue(row, forKey: row.key)
    guard known?.registration != row.registration || known?.address != row.address else {
      return nil
    }
    for (place, claim) in holders where claim.key == row.key { holders[place] = nil }
    guard !row.address.token.isEmpty else { return nil }
    let place = HeldAddress(scope: row.key.scope, address: row.address.place)
    let claim = AddressClaim(row, partition: partition)
    guard let holder = holders[place] else {
      holders[place] = claim
      return nil
    }
    guard claim.isNewer(than: holder) else { return claim.displaced(by: row, in: partition) }
    holders[place] = claim
    return holder.displaced(by: row, in: partition)
  }
}
