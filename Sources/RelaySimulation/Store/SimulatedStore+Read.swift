import RelayCore

extension SimulatedStore {
  func eras(of key: FeedKey) -> Eras { partitions[Int(key.partition.number)].eras }

  /// One page, entitlement checked in the same snapshot.
  func page(_ query: PageQuery) -> PageAnswer {
    guard let floor = floor(of: query.reader, in: query.feed) else { return .absent }
    let feed = feeds[query.feed] ?? StoredFeed()
    var entries = Array(feed.entries.values)
    if planted == .showsEveryDeletion {
      for index in entries.indices where !entries[index].life.isPresent {
        entries[index].life.born = .zero
        (entries[index].life.died, entries[index].life.reborn) = (.zero, .zero)
      }
    }
    let answer = Page.read(
      entries, of: feed.state, eras: eras(of: query.feed), after: query.after,
      limit: query.limit, floor: floor)
    guard let planted, case .page(var page) = answer else { return answer }
    switch planted {
    case .showsEveryDeletion:
      page.entries = page.entries.compactMap { feed.entries[$0.subject] }
    case .endsPagesEarly:
      page.hasMore = false
      page.next = Place(
        era: eras(of: query.feed).of(feed.state.top.ordinal)?.id ?? 0, position: feed.state.top)
    default: break
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
      guard isAlive(zone, in: key.scope) else { return nil }
      if zone.owner == reader || planted == .asksNoGrant { return .zero }
      let home = partitions[Int(key.partition.number)]
      let member = MemberRow.Key(scope: key.scope, zone: zone, participant: reader)
      guard let grant = home.grants[member], grant.isActive else { return nil }
      return grant.floor
    }
  }

  private func isAlive(_ zone: ZoneID, in scope: Scope) -> Bool {
    let own = FeedKey(scope: scope, kind: .database(zone.owner, .private))
    guard let feed = feeds[own], let entry = feed.entries[.zone(zone)] else { return false }
    return entry.life.isPresent && entry.life.position > feed.state.cleared
  }
}
