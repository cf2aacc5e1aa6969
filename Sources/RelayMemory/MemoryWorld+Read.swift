package import RelayCore

extension MemoryWorld {
  package func eras(of key: FeedKey) -> Eras { partitions[Int(key.partition.number)].eras }

  /// The feed. If it has no entries yet: an empty feed, whose floor comes from the forced expiries
  /// that apply to it.
  func feed(_ key: FeedKey) -> MemoryFeed {
    if let feed = feeds[key] { return feed }
    var feed = MemoryFeed()
    feed.state.floor = partitions[Int(key.partition.number)].floor(of: key)
    return feed
  }

  package func head(of key: FeedKey) -> FeedCursor {
    let top = feed(key).state.top
    return FeedCursor(era: eras(of: key).of(top.ordinal)?.id ?? 0, position: top)
  }

  /// A feed's entries that are not cleared.
  package func visible(in key: FeedKey) -> [Entry] {
    guard let feed = feeds[key] else { return [] }
    return feed.rows.values.map(\.entry).filter { $0.life.position > feed.state.cleared }
  }

  package func page(_ query: PageQuery) -> PageAnswer {
    guard let floor = floor(of: query.reader, in: query.feed) else { return .absent }
    let feed = self.feed(query.feed)
    let answer = Page.read(
      feed.rows.values.map(\.entry), of: feed.state, eras: eras(of: query.feed),
      after: query.after, limit: query.limit, looks: query.looks, floor: floor)
    guard case .page(var page) = answer, case .database = query.feed.kind else { return answer }
    page.zoneHeads = page.entries.map { entry in
      guard case .zone(let zone) = entry.subject else { return FeedCursor(era: 0, position: .zero) }
      return head(of: FeedKey(scope: query.feed.scope, kind: .zone(zone)))
    }
    return .page(page)
  }

  /// The position below which this reader's tokens expire, even if the feed's floor is lower. For
  /// a user that a zone is shared with, the grant names this position; for all others it is zero.
  /// Nil if the reader may not see the feed.
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
      guard let grant = home.grants[member] else { return nil }
      return grant.floor
    }
  }
}

extension MemoryWorld {
  /// The zones that a user's database feed holds, ordered by zone, after `last`.
  package func zones(of key: FeedKey, after last: ZoneID?, limit: Int) -> [ZoneDigest] {
    let zones = visible(in: key).compactMap { entry -> ZoneID? in
      guard entry.life.isPresent, case .zone(let zone) = entry.subject else { return nil }
      return zone
    }
    return zones.filter { zone in last.map { $0 < zone } ?? true }.sorted().prefix(limit).map {
      ZoneDigest(zone: $0, head: head(of: FeedKey(scope: key.scope, kind: .zone($0))))
    }
  }

  package func isNearlyFull(_ key: FeedKey) -> Bool {
    limits.isNearlyFull(key, present: visible(in: key).count { $0.life.isPresent })
  }

  package func holdings(of key: FeedKey, among subjects: Set<Subject>) -> Holdings {
    let present = Set(visible(in: key).lazy.filter(\.life.isPresent).map(\.subject))
    return Holdings(
      present: present.count, held: present.intersection(subjects),
      max: limits.subjectsMax(in: key))
  }

  /// The user's subscriptions after `serial`, in the order in which they were first saved.
  package func subscriptions(
    of user: UserID, _ database: Database, in scope: Scope, after serial: Position, limit: Int
  ) -> [SubscriptionRow] {
    let all = partitions[Int(PartitionID.home(of: user, in: scope).number)].subscriptions.values
      .filter {
        $0.scope == scope && $0.user == user && $0.subscription.database == database
          && $0.serial > serial
      }
    return Array(all.sorted { $0.serial < $1.serial }.prefix(limit))
  }

  package func subscriptions(
    named ids: [SubscriptionID], of user: UserID, _ database: Database, in scope: Scope
  ) -> [Subscription] {
    let home = partitions[Int(PartitionID.home(of: user, in: scope).number)]
    return ids.compactMap { id in
      let key = SubscriptionKey(scope: scope, user: user, database: database, id: id)
      return home.subscriptions[key]?.subscription
    }
  }

  /// The devices that `isWanted` picks, ordered by client id.
  package func devices(where isWanted: (DeviceKey) -> Bool) -> [DeviceRow] {
    partitions.flatMap { $0.devices.values }.filter { isWanted($0.key) }
      .sorted { ($0.key.client, $0.key) < ($1.key.client, $1.key) }
  }
}
