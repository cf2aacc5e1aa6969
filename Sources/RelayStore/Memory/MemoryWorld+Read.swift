import RelayCore
import RelayEngine

extension MemoryWorld {
  func eras(of key: FeedKey) -> Eras { partitions[Int(key.partition.number)].eras }

  func head(of key: FeedKey) -> Place {
    let top = feeds[key]?.state.top ?? .zero
    return Place(era: eras(of: key).of(top.ordinal)?.id ?? 0, position: top)
  }

  /// A feed's entries above `cleared`.
  func visible(in key: FeedKey) -> [Entry] {
    guard let feed = feeds[key] else { return [] }
    return feed.rows.values.map(\.entry).filter { $0.life.position > feed.state.cleared }
  }

  func page(_ query: PageQuery) -> PageAnswer {
    guard let floor = floor(of: query.reader, in: query.feed) else { return .absent }
    let feed = feeds[query.feed] ?? MemoryFeed()
    let answer = Page.read(
      feed.rows.values.map(\.entry), of: feed.state, eras: eras(of: query.feed),
      after: query.after, limit: query.limit, floor: floor)
    guard case .page(var page) = answer, case .database = query.feed.kind else { return answer }
    page.zoneHeads = page.entries.map { entry in
      guard case .zone(let zone) = entry.subject else { return Place(era: 0, position: .zero) }
      return head(of: FeedKey(scope: query.feed.scope, kind: .zone(zone)))
    }
    return .page(page)
  }

  /// The reader's own floor; nil if the feed is none of the reader's business.
  private func floor(of reader: UserID, in key: FeedKey) -> Position? {
    switch key.kind {
    case .notifications(let user): return user == reader ? .zero : nil
    case .database(let user, let database):
      return user == reader && database != .public ? .zero : nil
    case .zone(let zone):
      let own = FeedKey(scope: key.scope, kind: .database(zone.owner, .private))
      let lives = visible(in: own).contains {
        $0.subject == .zone(zone) && $0.life.isPresent
      }
      guard lives else { return nil }
      if zone.owner == reader { return .zero }
      let home = partitions[Int(PartitionID.home(of: zone.owner, in: key.scope).number)]
      let member = MemberRow.Key(scope: key.scope, zone: zone, participant: reader)
      guard let grant = home.grants[member], grant.isActive else { return nil }
      return grant.floor
    }
  }
}

extension MemoryWorld {
  mutating func trim(
    tombstones: Instant, notifications: Instant, limit: Int, of partitions: Set<PartitionID>
  ) -> Int {
    var left = limit
    for key in feeds.keys.sorted() where partitions.contains(key.partition) {
      left -= feeds[key]?.removeCleared(limit: left) ?? 0
    }
    for (aging, instant) in [(Aging.tombstone, tombstones), (.notification, notifications)] {
      var old: [(FeedKey, Subject, MemoryFeed.MemoryRow)] = []
      for (key, feed) in feeds where partitions.contains(key.partition) {
        for (subject, row) in feed.rows where row.kept < instant && Aging(row.entry) == aging {
          old.append((key, subject, row))
        }
      }
      old.sort { ($0.2.kept, $0.2.entry.life.position) < ($1.2.kept, $1.2.entry.life.position) }
      for (key, subject, row) in old.prefix(left) {
        feeds[key]?.rows[subject] = nil
        feeds[key]?.state.floor.raise(to: row.entry.life.position)
        left -= 1
      }
    }
    return limit - left
  }
}

extension MemoryFeed {
  fileprivate mutating func removeCleared(limit: Int) -> Int {
    let hidden = rows.filter { $0.value.entry.life.position <= state.cleared }
      .sorted { $0.value.entry.life.position < $1.value.entry.life.position }
    for (subject, _) in hidden.prefix(limit) { rows[subject] = nil }
    return min(hidden.count, limit)
  }
}

extension Position {
  fileprivate mutating func raise(to other: Position) { self = max(self, other) }
}
