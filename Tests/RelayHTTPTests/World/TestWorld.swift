import RelayCore
import RelayEngine

/// The core and what its cuts fold into, as one value.
struct TestWorld: ~Copyable {
  private var relay: Relay
  private var ordinals = [Ordinal](repeating: .zero, count: PartitionID.count)
  private var feeds: [FeedKey: FeedState] = [:]
  private var entries: [FeedKey: [Subject: Entry]] = [:]
  private var grants: [MemberRow.Key: GrantRow] = [:]
  private var era: UInt64 = 0xe1
  private(set) var subscriptions: [SubscriptionKey: SubscriptionRow] = [:]
  private(set) var devices: [DeviceKey: DeviceRow] = [:]
  private(set) var badges: [BadgeRow.Key: Int] = [:]
  private let now = Instant(milliseconds: 1_795_230_000_000)

  init(limits: Limits) {
    relay = Relay(
      PartitionID.all.map { PartitionTables(id: $0) }, limits: limits, policy: WakePolicy())
    _ = relay.recovered()
  }

  /// Tokens given so far name a life that this store does not know.
  mutating func forgetEras() { era += 1 }

  mutating func take(_ fact: Fact) -> Answer {
    switch fact {
    case .expireTokens, .tick:
      for partition in PartitionID.all { _ = step(fact, in: partition) }
      return .done
    default: return step(fact, in: home(of: fact))
    }
  }

  private func home(of fact: Fact) -> PartitionID {
    switch fact {
    case .change(let change): change.home
    case .register(let request): .home(of: request.user, in: request.scope)
    case .unregister(let request): .home(of: request.user, in: request.scope)
    case .modify(let request): .home(of: request.user, in: request.scope)
    case .markRead(let request): .home(of: request.user, in: request.scope)
    case .setBadge(let request): .home(of: request.user, in: request.scope)
    case .lostHistory(let feed): feed.partition
    case .slice, .forwarded, .expireTokens, .tick: PartitionID(0)
    }
  }

  private mutating func step(_ fact: Fact, in partition: PartitionID) -> Answer {
    let ordinal = ordinals[Int(partition.number)].next
    ordinals[Int(partition.number)] = ordinal
    var effects: [Effect] = []
    relay.step(fact, in: partition, ordinal: ordinal, at: now, into: &effects)
    var own = Answer.done
    for effect in effects {
      switch effect {
      case .answer(let from, let place, let answer, _) where from == partition && place == ordinal:
        own = answer
      case .journal(let target, let fact): _ = step(fact, in: target)
      default: break
      }
    }
    return own
  }

  /// Folds until nothing is left to forward.
  mutating func fold() {
    while relay.isDirty {
      let cut = relay.cut(at: now)
      var effects: [Effect] = []
      for part in cut.partitions { apply(part) }
      relay.folded(cut, at: now, into: &effects)
      for row in cut.partitions.flatMap(\.outbox) {
        let message = Forwarded(
          source: row.source, serial: row.key.serial, message: row.message)
        _ = step(.forwarded(message), in: row.key.target)
        relay.delivered(row.key, from: row.source)
      }
    }
  }

  private mutating func apply(_ cut: PartitionCut) {
    for feed in cut.feeds { apply(feed) }
    for key in cut.subscriptionsRemoved { subscriptions[key] = nil }
    for row in cut.subscriptions { subscriptions[row.key] = row }
    for key in cut.devicesRemoved { devices[key] = nil }
    for row in cut.devices { devices[row.key] = row }
    for row in cut.badges { badges[row.key] = row.count }
    for row in cut.grants {
      grants[MemberRow.Key(scope: row.scope, zone: row.zone, participant: row.participant)] = row
    }
    for expiry in cut.expiries {
      for key in Array(feeds.keys) where key.partition == cut.id {
        var state = feeds[key] ?? FeedState()
        state.floor = max(state.floor, expiry.floor)
        feeds[key] = state
      }
    }
  }

  private mutating func apply(_ cut: FeedCut) {
    var state = feeds[cut.feed] ?? FeedState()
    state.cleared = max(state.cleared, cut.cleared ?? .zero)
    state.floor = max(state.floor, cut.floor ?? .zero, state.cleared)
    state.hasGap = cut.gap ?? state.hasGap
    for item in cut.deltas where item.delta.last.position > state.cleared {
      let standing = entries[cut.feed]?[item.subject]
      let visible = standing.flatMap { $0.life.position > state.cleared ? $0 : nil }
      let entry = Fold.fold(visible, item.delta, subject: item.subject)
      state.head = max(state.head, entry.life.position)
      entries[cut.feed, default: [:]][item.subject] = entry
    }
    for marks in cut.marks {
      for entry in Fold.mark(Array((entries[cut.feed] ?? [:]).values), marks) {
        state.head = max(state.head, entry.life.position)
        entries[cut.feed, default: [:]][entry.subject] = entry
      }
    }
    feeds[cut.feed] = state
  }
}

extension TestWorld {
  private var eras: Eras { Eras([Era(id: era, first: Ordinal(1))]) }

  func head(of key: FeedKey) -> Place {
    let state = feeds[key] ?? FeedState()
    let top = max(state.head, state.floor, state.cleared)
    return Place(era: eras.of(top.ordinal)?.id ?? 0, position: top)
  }

  private func present(_ key: FeedKey) -> [Entry] {
    let cleared = feeds[key]?.cleared ?? .zero
    return (entries[key] ?? [:]).values.filter { $0.life.position > cleared }
  }

  func page(_ query: PageQuery) -> PageAnswer {
    guard let floor = floor(of: query.reader, in: query.feed) else { return .absent }
    let answer = Page.read(
      Array((entries[query.feed] ?? [:]).values), of: feeds[query.feed] ?? FeedState(), eras: eras,
      after: query.after, limit: query.limit, floor: floor)
    guard case .page(var page) = answer, case .database = query.feed.kind else { return answer }
    page.zoneHeads = page.entries.map { entry in
      guard case .zone(let zone) = entry.subject else { return Place(era: 0, position: .zero) }
      return head(of: FeedKey(scope: query.feed.scope, kind: .zone(zone)))
    }
    return .page(page)
  }

  private func floor(of reader: UserID, in key: FeedKey) -> Position? {
    switch key.kind {
    case .notifications(let user): return user == reader ? .zero : nil
    case .database(let user, let database):
      return user == reader && database != .public ? .zero : nil
    case .zone(let zone):
      let own = FeedKey(scope: key.scope, kind: .database(zone.owner, .private))
      guard present(own).contains(where: { $0.subject == .zone(zone) && $0.life.isPresent })
      else { return nil }
      if zone.owner == reader { return .zero }
      let member = MemberRow.Key(scope: key.scope, zone: zone, participant: reader)
      guard let grant = grants[member], grant.isActive else { return nil }
      return grant.floor
    }
  }

  func zones(
    of user: UserID, _ database: Database, in scope: Scope, after last: ZoneID?, limit: Int
  ) -> [ZoneDigest] {
    let key = FeedKey(scope: scope, kind: .database(user, database))
    var digests: [ZoneDigest] = []
    for entry in present(key) where entry.life.isPresent {
      guard case .zone(let zone) = entry.subject, last.map({ $0 < zone }) ?? true else { continue }
      let head = head(of: FeedKey(scope: scope, kind: .zone(zone)))
      digests.append(ZoneDigest(zone: zone, head: head))
    }
    return Array(digests.sorted { $0.zone < $1.zone }.prefix(limit))
  }
}
