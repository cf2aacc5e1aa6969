@testable import RelayCore
import RelayEngine
import RelayStore
import Testing

/// Random histories: over crashes and restarts the SQLite store gives the same answers as the
/// memory store. In every store a client that follows its tokens ends with exactly the net state
/// (P2).
@Suite struct HistoryConformance {
  @Test(arguments: 0..<16)
  func `the SQLite store answers as the memory store in random histories`(seed: UInt64) async throws
  {
    var limits = Limits()
    limits.notificationsPerUser = 9
    var sides = try await [StoreKind.sqlite, .memory].asyncMap { kind in
      try await Bench(kind.home(limits))
    }
    var draw = SeededRandom(seed: seed)
    var tokens: [FeedKey: [FeedCursor?]] = [:]
    for round in 0..<30 {
      let cut = History.cut(&draw, &sides[0])
      for index in sides.indices {
        _ = try await sides[index].store.fold(cut, leases: sides[index].leases)
      }
      if draw.number(0..<6) == 0 { try await trim(&draw, sides) }
      if draw.number(0..<8) == 0 {
        sides = try await sides.asyncMap { side in
          let copy = try side.base.crashed()
          if draw.flag() { await side.store.close() }
          return try await Bench(copy, era: UInt64(1_000 * (round + 1)))
        }
      }
      for feed in History.feeds {
        let known = tokens[feed, default: [nil]]
        for _ in 0..<3 {
          let query = PageQuery(
            feed: feed, reader: draw.pick(History.readers), after: draw.pick(known),
            limit: draw.number(1..<9), looks: draw.pick([1, 2, 5, PageQuery.looksMax]))
          let answers = try await sides.asyncMap { try await $0.store.page(query) }
          #expect(answers[0] == answers[1], "seed \(seed), round \(round), \(query)")
          if case .page(let page) = answers[0] { tokens[feed, default: [nil]].append(page.next) }
        }
        let heads = try await sides.asyncMap { try await $0.store.head(of: feed) }
        #expect(heads[0] == heads[1])
      }
      let zones = try await sides.asyncMap {
        try await $0.store.zones(
          of: Bench.owner, .private, in: Bench.scope, after: nil, limit: 9)
      }
      #expect(zones[0] == zones[1])
    }
  }

  @Test(arguments: StoreKind.allCases, 0..<6)
  func `clients that follow their tokens end with the net state`(
    kind: StoreKind, seed: UInt64
  ) async throws {
    var bench = try await Bench.fresh(kind)
    var draw = SeededRandom(seed: seed)
    var clients = (1...4).flatMap { number in
      [number, PageQuery.looksMax].map { History.Client(limit: number * 2 - 1, looks: $0) }
    }
    for _ in 0..<60 {
      let cut = History.cut(&draw, &bench)
      _ = try await bench.store.fold(cut, leases: bench.leases)
      if draw.number(0..<5) == 0 { try await trim(&draw, [bench]) }
      for index in clients.indices where draw.flag() {
        try await clients[index].step(bench, History.feeds[0])
      }
    }
    try await bench.makeZone(History.names[0])
    let whole = try await bench.follow(History.feeds[0], limit: 200)
    for index in clients.indices {
      while try await clients[index].step(bench, History.feeds[0]) {}
      #expect(clients[index].known == Set(whole.entries.map(\.subject)), "seed \(seed)")
    }
  }

  private func trim(_ draw: inout SeededRandom, _ sides: [Bench]) async throws {
    let border = Instant(milliseconds: sides[0].at.milliseconds - Int64(draw.number(0..<20)))
    for side in sides {
      _ = try await side.store.trim(
        tombstones: border, notifications: border, feedback: .zero, limit: 10_000,
        leases: side.leases)
    }
  }
}

/// Random cuts of one user's feeds, as the core would make them.
enum History {
  static let names = ["One", "Two"]
  static let readers = [Bench.owner, Bench.owner, UserID("_friend")]
  static let feeds: [FeedKey] =
    names.map {
      FeedKey(scope: Bench.scope, kind: .zone(ZoneID(name: $0, owner: Bench.owner)))
    } + [
      FeedKey(scope: Bench.scope, kind: .database(Bench.owner, .private)),
      FeedKey(scope: Bench.scope, kind: .notifications(Bench.owner)),
    ]
  private static let clients: [ClientID?] = [
    nil, ClientID(Identifier(high: 1, low: 1)), ClientID(Identifier(high: 2, low: 2)),
  ]

  /// A cut of random facts, merged as the core merges facts between two folds.
  static func cut(_ draw: inout SeededRandom, _ bench: inout Bench) -> Cut {
    var buffers: [FeedKey: FeedCut] = [:]
    var order: [FeedKey] = []
    bench.at = Instant(milliseconds: bench.at.milliseconds + Int64(draw.number(0..<9)))
    func add(_ mutation: FeedMutation, of subject: Subject, to feed: FeedKey) {
      if buffers[feed] == nil { order.append(feed) }
      var cut = buffers[feed] ?? FeedCut(feed: feed)
      if let index = cut.deltas.firstIndex(where: { $0.subject == subject }) {
        cut.deltas[index].delta.add(mutation)
      } else {
        cut.deltas.append(SubjectDelta(subject: subject, delta: Delta(mutation)))
      }
      buffers[feed] = cut
    }
    for _ in 0..<draw.number(1..<12) {
      let position = Position(bench.next())
      let zone = ZoneID(name: draw.pick(names), owner: Bench.owner)
      let feed = FeedKey(scope: Bench.scope, kind: .zone(zone))
      let client = draw.pick(clients)
      if draw.number(0..<25) == 0 {
        let verb = draw.pick([FeedMutation.Verb.deleted, .purged, .reset])
        add(
          bench.mutation(.zone(zone), verb, position, client), of: .zone(zone), to: feeds[2])
        if buffers[feed] == nil { order.append(feed) }
        buffers[feed] = FeedCut(feed: feed, cleared: position, floor: position)
        continue
      }
      let record = Subject.record("r\(draw.number(0..<7))")
      let verb = draw.pick([FeedMutation.Verb.created, .updated, .deleted])
      add(bench.mutation(record, verb, position, client), of: record, to: feed)
      add(
        bench.mutation(.zone(zone), .updated, position, client), of: .zone(zone), to: feeds[2])
      let notification = Subject.notification(
        SubscriptionID("s\(draw.number(0..<6))"), zone: zone,
        record: draw.flag() ? "r\(draw.number(0..<4))" : nil)
      add(
        bench.mutation(notification, verb, position, client), of: notification, to: feeds[3])
    }
    let grant = draw.maybe { draw in
      GrantRow(
        scope: Bench.scope, zone: ZoneID(name: draw.pick(names), owner: Bench.owner),
        participant: UserID("_friend"), isActive: draw.flag(),
        floor: draw.flag() ? .zero : Position(bench.lasts[bench.home]!))
    }
    return bench.cut { cut in
      cut.feeds = order.map { buffers[$0]! }
      cut.grants = grant.map { [$0] } ?? []
    }
  }

  /// A client that keeps the entries it was shown and follows its tokens.
  struct Client {
    let limit: Int
    var looks = PageQuery.looksMax
    var known: Set<Subject> = []
    var place: FeedCursor?

    /// - Returns: true if there is more to fetch.
    @discardableResult
    mutating func step(_ bench: Bench, _ feed: FeedKey) async throws -> Bool {
      switch try await bench.page(feed, after: place, limit: limit, looks: looks) {
      case .page(let page):
        if page.hasMore { #expect(page.next.position > place?.position ?? .zero) }
        for entry in page.entries {
          if entry.life.isPresent {
            known.insert(entry.subject)
          } else {
            known.remove(entry.subject)
          }
        }
        place = page.next
        return page.hasMore
      case .expired, .absent:
        let isRestart = place != nil
        (known, place) = ([], nil)
        return isRestart
      }
    }
  }
}
