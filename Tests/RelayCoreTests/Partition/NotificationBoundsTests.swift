import RelayMemory
import Testing

@testable import RelayCore

/// P11: the number of one user's notifications between two cuts is bounded by the number that the
/// feed keeps, and readers find the same notifications as without this bound.
@Suite struct NotificationBoundsTests {
  private static let subscriptions = 3
  private static let zone = ZoneID(name: ZoneID.defaultName, owner: Sample.owner)
  private static let feed = FeedKey(scope: Sample.scope, kind: .notifications(Sample.owner))

  private func rig(keeping count: Int) -> PartitionRig {
    var limits = Limits()
    limits.notificationsPerUser = count
    var rig = PartitionRig(limits: limits)
    rig.register(1)
    for number in 0..<Self.subscriptions {
      let filter = QueryRule.Filter(
        field: SystemField.recordName.rawValue, comparator: .notEquals,
        value: .string("none\(number)"))
      rig.save("q\(number)", .query(QueryRule(recordType: "Article", filters: [filter])))
    }
    rig.fold()
    return rig
  }

  /// Limit: limits.notificationsPerUser
  @Test(arguments: [
    (verb: RecordChange.Verb.created, bound: 30), (.updated, 30), (.deleted, 2 * 30),
  ])
  func `a cut brings no more notifications than a user's feed keeps`(
    verb: RecordChange.Verb, bound: Int
  ) {
    for (records, dropped) in [(bound / 3, false), (bound / 3 + 1, true), (1_000, true)] {
      var rig = rig(keeping: 30)
      for number in 0..<records {
        rig.change(.record(verb, "R\(number)"), in: Self.zone)
        #expect(rig.partition.uncut <= bound + 30)
      }
      let matched = rig.partition.ledger.matched
      #expect(matched == Int64(records * Self.subscriptions), "all are told")
      let cut = rig.fold().feed(.notifications(Sample.owner))
      #expect(cut?.deltas.count == min(bound, records * Self.subscriptions))
      #expect(cut?.deltas.last?.delta.last.position.ordinal == Ordinal(rig.ordinal))
      #expect((cut?.trimmed != nil) == dropped)
      #expect(rig.partition.uncut == 0)
    }
  }

  /// The coordinator bounds the work of a turn, so a request that marks many must count as many.
  @Test func `each notification that a request names counts as work`() {
    var rig = rig(keeping: 30)
    func work(_ count: UInt64) -> Int {
      let before = rig.partition.work
      rig.read((0..<count).map { Sample.nid(9_000 + $0) })
      return rig.partition.work - before
    }
    #expect(work(200) - work(1) == 199)
  }

  /// A read request moves the notifications that it marks to a new place in the feed, and their
  /// number in that place is bounded too.
  @Test func `marked notifications are dropped as later ones come`() {
    var rig = rig(keeping: 30)
    for number in 0..<1_000 {
      let fingerprint = UInt64(5_000 + number)
      rig.change(.record(.created, "R\(number)"), in: Self.zone, fingerprint: fingerprint)
      rig.read([Sample.nid(rig.fingerprint)])
      #expect(rig.partition.uncut <= 60)
    }
    #expect(rig.fold().feed(.notifications(Sample.owner))?.deltas.count == 30)
  }

  /// Compares two stores at all tokens: the store of a partition that drops notifications, and the
  /// store of a partition that drops none.
  @Test(arguments: 0..<30 as Range<UInt64>)
  func `readers find the same as if no notification were dropped`(seed: UInt64) {
    var draw = SeededRandom(seed: seed)
    let kept = draw.pick([4, 7, 20])
    var (bounded, whole) = (rig(keeping: kept), rig(keeping: 100_000))
    var limits = Limits()
    limits.notificationsPerUser = kept
    let stores = (MemoryWorld(limits: limits), MemoryWorld(limits: limits))
    var (own, other) = stores
    _ = (own.claim(Self.feed.partition, era: 7), other.claim(Self.feed.partition, era: 7))
    var tokens: [FeedCursor?] = [nil]
    var hasDropped = false
    for round in 0..<12 {
      var deletions = 0..<20
      for _ in 0..<draw.below(3 * kept) {
        let event = draw.event(inRound: round, &deletions)
        bounded.change(event, in: Self.zone)
        whole.change(event, in: Self.zone)
        guard draw.chance(10) else { continue }
        let marked = [Sample.nid(whole.fingerprint)]
        bounded.read(marked)
        whole.read(marked)
      }
      let cuts = (bounded.fold(), whole.fold())
      hasDropped = hasDropped || cuts.0.feed(.notifications(Sample.owner))?.trimmed != nil
      _ = own.fold(Cut(at: bounded.now, partitions: [cuts.0]))
      _ = other.fold(Cut(at: whole.now, partitions: [cuts.1]))
      let isSame = tokens.allSatisfy { own.shown(after: $0) == other.shown(after: $0) }
      #expect(isSame)
      #expect(
        own.head(of: Self.feed).position.ordinal == other.head(of: Self.feed).position.ordinal)
      tokens.append(own.head(of: Self.feed))
    }
    #expect(hasDropped)
    #expect(bounded.partition.ledger == whole.partition.ledger)
  }
}

extension SeededRandom {
  /// Returns a random event. Some records are created only in the first round and deleted only in
  /// later rounds. A round ends with a cut, and deletes each of these records at most once.
  fileprivate mutating func event(
    inRound round: Int, _ deletions: inout Range<Int>
  ) -> Change.Event {
    if round > 0, chance(40), let number = deletions.popFirst() {
      return .record(.deleted, "gone\((number + 7 * round) % 20)")
    }
    if round == 0, chance(50) { return .record(.created, "gone\(below(20))") }
    return .record(chance(50) ? .created : .updated, "R\(below(40))")
  }
}

extension PartitionRig {
  fileprivate mutating func read(_ notifications: [Identifier]) {
    step(
      .markRead(
        ReadRequest(
          scope: Sample.scope, user: Sample.owner, client: nil, notifications: notifications)))
  }
}

extension MemoryWorld {
  /// The page that a reader gets, one line for each notification. Notifications that one request
  /// marked as read all have that request's ordinal.
  fileprivate func shown(after token: FeedCursor?) -> [String] {
    let feed = FeedKey(scope: Sample.scope, kind: .notifications(Sample.owner))
    let query = PageQuery(feed: feed, reader: Sample.owner, after: token, limit: 1_000)
    guard case .page(let page) = page(query) else { return ["expired"] }
    return page.entries.map { entry in
      guard case .notification(let detail) = entry.detail else { return "" }
      let place = entry.life.position.ordinal.number
      return "\(entry.subject.text) \(place) \(detail.notification) \(detail.isRead)"
    }
  }
}
