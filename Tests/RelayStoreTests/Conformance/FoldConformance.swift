@testable import RelayCore
import RelayEngine
import RelayStore
import Testing

/// Folds: one repeatable transaction over tables, feeds and cursors.
@Suite struct FoldConformance {
  @Test(arguments: StoreKind.allCases, 0..<6)
  func `tables are loaded as they were folded, also after a crash`(
    kind: StoreKind, seed: UInt64
  ) async throws {
    let home = try kind.home()
    var bench = try await Bench(home)
    var draw = SeededRandom(seed: seed)
    var expected = PartitionTables(id: bench.home)
    for _ in 0..<4 {
      _ = bench.next()
      let cut = draw.rows(into: &expected, of: bench.home, at: bench.lasts[bench.home]!)
      expected.time = bench.at
      _ = try await bench.store.fold(Cut(at: bench.at, partitions: [cut]), leases: bench.leases)
      #expect(try await bench.store.load(bench.lease(of: bench.home)) == expected)
    }
    let copy = try home.crashed()
    let again = try await Bench(copy, era: 7_000)
    #expect(try await again.store.load(again.lease(of: again.home)) == expected)
    let other = again.leases.first { $0.partition != again.home }!
    #expect(try await again.store.load(other) == PartitionTables(id: other.partition))
  }

  @Test(arguments: StoreKind.allCases)
  func `a repeated or older fold changes nothing`(
    kind: StoreKind
  ) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    let early = bench.cut { cut in
      cut.feeds = [FeedCut(feed: bench.feed, deltas: [bench.delta("a", .created, 2)])]
      cut.heard = [Heard(source: PartitionID(3), serial: Position(Ordinal(4)))]
    }
    _ = bench.next()
    let cut = bench.cut { cut in
      cut.feeds = [
        FeedCut(
          feed: bench.feed,
          deltas: [bench.delta("a", .updated, 2), bench.delta("b", .created, 2)])
      ]
      cut.outbox = [bench.message(to: PartitionID(3), serial: 2)]
      cut.remembered = [Remembered(ordinal: Ordinal(2), at: bench.at, fingerprint: 77)]
    }
    _ = try await bench.store.fold(cut, leases: bench.leases)
    let tables = try await bench.store.load(bench.lease(of: bench.home))
    let page = try await bench.read(bench.feed)
    for repeated in [cut, cut, early] {
      _ = try await bench.store.fold(repeated, leases: bench.leases)
      #expect(try await bench.store.load(bench.lease(of: bench.home)) == tables)
      #expect(try await bench.read(bench.feed) == page)
    }
    #expect(tables.cursor == Ordinal(2) && tables.outbox.count == 1 && tables.heard.isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `ids up to the forgotten fact are not loaded`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    let ids = (UInt64(1)...3).map {
      Remembered(ordinal: Ordinal($0), at: bench.at, fingerprint: 70 + $0)
    }
    _ = try await bench.store.fold(bench.cut { $0.remembered = ids }, leases: bench.leases)
    _ = bench.next()
    _ = try await bench.store.fold(
      bench.cut { $0.forgotten = Ordinal(2) }, leases: bench.leases)
    let tables = try await bench.store.load(bench.lease(of: bench.home))
    #expect(tables.remembered == [ids[2]])
  }

  @Test(arguments: StoreKind.allCases)
  func `a read mark moves the notification that it names once, and no later one`(
    kind: StoreKind
  ) async throws {
    var bench = try await Bench.fresh(kind)
    let subjects = ["a", "b", "c"].map {
      Subject.notification(SubscriptionID("s"), zone: bench.zone(), record: $0)
    }
    for subject in subjects { try await bench.mutate(bench.notifications, subject, .created) }
    // In these samples the low half of a notification's id is the notification's position.
    func nid(_ ordinal: UInt64) -> Identifier {
      Identifier(high: 1, low: Position(Ordinal(ordinal)).bits)
    }
    let later = SubjectDelta(
      subject: subjects[1],
      delta: Delta(bench.mutation(subjects[1], .updated, Position(bench.next()))))
    let marks = ReadMarks(
      position: Position(bench.next()), device: nil,
      notifications: [nid(1), nid(2), nid(99)])
    let cut = bench.cut { cut in
      cut.feeds = [FeedCut(feed: bench.notifications, deltas: [later], marks: [marks])]
    }
    for _ in 0..<2 {
      _ = try await bench.store.fold(cut, leases: bench.leases)
      let page = try await bench.read(bench.notifications)
      #expect(page.entries.map(\.subject) == [subjects[2], subjects[1], subjects[0]])
      #expect(page.entries.map(\.life.position.ordinal.number) == [3, 4, 5])
      let read: [Position?] = page.entries.map { entry in
        if case .notification(let detail) = entry.detail { detail.read?.changed } else { nil }
      }
      #expect(read == [nil, nil, Position(Ordinal(1))])
      #expect(page.next.position == Position(Ordinal(5)))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a read mark does not bring back a cleared notification`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    let subjects = ["a", "b"].map {
      Subject.notification(SubscriptionID("s"), zone: bench.zone(), record: $0)
    }
    for subject in subjects { try await bench.mutate(bench.notifications, subject, .created) }
    let first = Position(Ordinal(1))
    let marks = ReadMarks(
      position: Position(bench.next()), device: nil,
      notifications: [Identifier(high: 1, low: first.bits)])
    let cut = FeedCut(feed: bench.notifications, cleared: first, marks: [marks])
    try await bench.fold { $0.feeds = [cut] }
    let page = try await bench.read(bench.notifications)
    #expect(page.entries.map(\.subject) == [subjects[1]])
  }

  /// All users wait for a fold, so the cost of one user's read marks must not grow with the feed.
  @Test(arguments: StoreKind.allCases)
  func `read marks with unknown IDs do not scan the feed`(
    kind: StoreKind
  ) async throws {
    var times: [Duration] = []
    for count in [250, 8_000] {
      var bench = try await Bench.fresh(kind)
      let deltas = (0..<count).map { index in
        let subject = Subject.notification(
          SubscriptionID("s"), zone: bench.zone(), record: "r\(index)")
        return SubjectDelta(
          subject: subject,
          delta: Delta(bench.mutation(subject, .created, Position(bench.next()))))
      }
      try await bench.fold { $0.feeds = [FeedCut(feed: bench.notifications, deltas: deltas)] }
      var fastest = Duration.seconds(60)
      // The fastest of many runs: other work on the machine only adds time.
      for _ in 0..<15 {
        let marks = (0..<30).map { request in
          ReadMarks(
            position: Position(bench.next()), device: nil,
            notifications: (0..<20).map { Identifier(high: 7, low: UInt64(request * 20 + $0)) })
        }
        let cut = bench.cut { $0.feeds = [FeedCut(feed: bench.notifications, marks: marks)] }
        let clock = ContinuousClock()
        let start = clock.now
        _ = try await bench.store.fold(cut, leases: bench.leases)
        fastest = min(fastest, clock.now - start)
      }
      times.append(fastest)
    }
    #expect(times[1] < times[0] * 8, "thirty-two times as long a feed: \(times)")
  }

  @Test(arguments: StoreKind.allCases)
  func `a zone's pages show a gap until it is cleared, also after a crash`(
    kind: StoreKind
  ) async throws {
    let home = try kind.home()
    var bench = try await Bench(home)
    try await bench.makeZone()
    #expect(try await bench.read(bench.feed).hasGap == false, "there is no feed yet")
    _ = bench.next()
    try await bench.fold { $0.feeds = [FeedCut(feed: bench.feed, gap: true)] }
    _ = try await bench.record("a", .created)
    let page = try await bench.read(bench.feed)
    #expect(page.hasGap && page.entries.count == 1)
    #expect(try await bench.read(bench.privates).hasGap == false)
    var again = try await Bench(home.crashed(), era: 7_000)
    #expect(try await again.read(again.feed, after: nil, limit: 1).hasGap)
    _ = again.next()
    try await again.fold { $0.feeds = [FeedCut(feed: again.feed, gap: false)] }
    #expect(try await again.read(again.feed).hasGap == false)
  }

  /// Limit: limits.notificationsPerUser
  @Test(arguments: StoreKind.allCases, [(count: 4, kept: 4), (5, 5), (6, 5)])
  func `a feed keeps at most limits.notificationsPerUser notifications`(
    kind: StoreKind, notifications: (count: Int, kept: Int)
  ) async throws {
    var limits = Limits()
    limits.notificationsPerUser = 5
    var bench = try await Bench.fresh(kind, limits)
    var places: [Position] = []
    for index in 0..<notifications.count {
      let subject = Subject.notification(
        SubscriptionID("s\(index)"), zone: bench.zone(), record: nil)
      places.append(try await bench.mutate(bench.notifications, subject, .created))
    }
    let page = try await bench.read(bench.notifications, limit: 200)
    #expect(page.entries.map(\.life.position) == Array(places.suffix(notifications.kept)))
    // A token from before the removed entries has expired, and no other token has expired.
    let before = FeedCursor(era: page.next.era, position: Position(bits: places[0].bits - 1))
    let answer = try await bench.page(bench.notifications, after: before)
    #expect((answer == .expired(.trimmed)) == (notifications.kept < notifications.count))
  }

  @Test(arguments: StoreKind.allCases)
  func `a full feed counts its tombstones and drops its oldest entries first`(kind: StoreKind)
    async throws
  {
    var limits = Limits()
    limits.notificationsPerUser = 5
    var bench = try await Bench.fresh(kind, limits)
    var places: [Position] = []
    for index in 0..<8 {
      let subject = Subject.notification(
        SubscriptionID("s\(index)"), zone: bench.zone(), record: index.isMultiple(of: 2) ? "r" : nil
      )
      places.append(
        try await bench.mutate(bench.notifications, subject, index == 4 ? .deleted : .created))
    }
    let page = try await bench.read(bench.notifications, limit: 200)
    #expect(page.entries.map(\.life.position) == [3, 5, 6, 7].map { places[$0] })
    let era = page.next.era
    #expect(
      try await bench.page(bench.notifications, after: FeedCursor(era: era, position: places[1]))
        == .expired(.trimmed))
    #expect(
      try await bench.read(bench.notifications, after: FeedCursor(era: era, position: places[2]))
        .entries.count == 5, "the deletion is news to this one")
  }

  /// Entries that a cut leaves out count as removed: the floor rises to them.
  @Test(arguments: StoreKind.allCases)
  func `a token older than the entries that a cut leaves out has expired`(kind: StoreKind)
    async throws
  {
    var bench = try await Bench.fresh(kind)
    let subjects = ["s", "t"].map {
      Subject.notification(SubscriptionID($0), zone: bench.zone(), record: nil)
    }
    let first = try await bench.mutate(bench.notifications, subjects[0], .created)
    let before = try await bench.read(bench.notifications).next
    let left = Position(bench.next())
    let last = Position(bench.next())
    let delta = SubjectDelta(
      subject: subjects[1], delta: Delta(bench.mutation(subjects[1], .created, last)))
    try await bench.fold {
      $0.feeds = [FeedCut(feed: bench.notifications, deltas: [delta], trimmed: left)]
    }
    #expect(try await bench.page(bench.notifications, after: before) == .expired(.trimmed))
    let page = try await bench.read(bench.notifications)
    #expect(page.entries.map(\.life.position) == [first, last])
    #expect(page.entries.map(\.life.born) == [first, last], "the floor rises last")
    #expect(try await bench.read(bench.notifications, after: page.next).entries.isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `a forced expiry expires only the tokens of the feeds that it names`(kind: StoreKind)
    async throws
  {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    _ = try await bench.record("a", .created)
    let tokens = try await [bench.feed, bench.privates].asyncMap { try await bench.read($0).next }
    func expired(_ expiry: TokenExpiry) async throws -> [Bool] {
      let floor = Position(bench.next())
      try await bench.fold { $0.expiries = [FeedExpiry(of: expiry, floor: floor)] }
      return try await zip([bench.feed, bench.privates], tokens).map { ($0, $1) }.asyncMap {
        try await bench.page($0.0, after: $0.1) == .expired(.trimmed)
      }
    }
    let others = [
      TokenExpiry(container: "iCloud.other"), TokenExpiry(environment: .production),
      TokenExpiry(user: UserID("_other")),
      TokenExpiry(container: Bench.scope.container, user: UserID("_other")),
    ]
    for other in others { #expect(try await expired(other) == [false, false]) }
    let all = TokenExpiry(
      container: Bench.scope.container, environment: .development, user: Bench.owner)
    #expect(try await expired(all) == [true, true])
    let anew = try await bench.read(bench.feed)
    #expect(anew.entries.count == 1)
    #expect(try await bench.read(bench.feed, after: anew.next).entries.isEmpty)
    #expect(try await expired(TokenExpiry()) == [true, true])
  }

  /// A token of a feed that holds nothing yet is valid like any other.
  @Test(arguments: StoreKind.allCases)
  func `a forced expiry also expires the tokens of empty feeds`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    let feeds = [bench.feed, bench.notifications]
    let tokens = try await feeds.asyncMap { try await bench.read($0).next }
    func expire(_ expiry: TokenExpiry) async throws {
      let floor = Position(bench.next())
      try await bench.fold { $0.expiries = [FeedExpiry(of: expiry, floor: floor)] }
    }
    func answers(_ tokens: [FeedCursor]) async throws -> [Bool] {
      try await zip(feeds, tokens).map { ($0, $1) }.asyncMap {
        try await bench.page($0.0, after: $0.1) == .expired(.trimmed)
      }
    }
    try await expire(TokenExpiry(user: UserID("_other")))
    #expect(try await answers(tokens) == [false, false])
    try await expire(TokenExpiry(container: Bench.scope.container, user: Bench.owner))
    #expect(try await answers(tokens) == [true, true])
    let anew = try await feeds.asyncMap { try await bench.read($0).next }
    #expect(try await answers(anew) == [false, false])
    // The feeds get entries: expired tokens stay expired, new ones stay valid.
    _ = try await bench.record("a", .created)
    #expect(try await answers(tokens) == [true, true])
    #expect(try await bench.read(bench.feed, after: anew[0]).entries.count == 1)
    #expect(try await bench.store.head(of: bench.notifications) == anew[1])
  }

  /// The store never removes the `FeedExpiry` of a feed without entries, so it must bound how many
  /// of these it keeps.
  @Test(arguments: StoreKind.allCases)
  func `the number of expiries kept for empty feeds is bounded`(kind: StoreKind) async throws {
    for (count, isExpired) in [(-1, false), (0, false), (1, true)] {
      var bench = try await Bench.fresh(kind)
      let token = try await bench.read(bench.notifications).next
      let floor = Position(bench.next())
      try await bench.fold { cut in
        cut.expiries = (0..<FeedExpiry.keptMax + count).map { number in
          FeedExpiry(of: TokenExpiry(user: UserID("_other\(number)")), floor: floor)
        }
      }
      let answer = try await bench.page(bench.notifications, after: token)
      #expect((answer == .expired(.trimmed)) == isExpired, "\(count)")
    }
  }

  /// The last cut of a clean stop leaves a mark in the store. The mark is valid for the next life,
  /// and for no later one.
  @Test(arguments: StoreKind.allCases)
  func `the mark of a clean stop is valid only for the next start`(kind: StoreKind) async throws {
    let home = try kind.home(Limits())
    func wasStopped(_ bench: Bench) async throws -> [Bool] {
      try await [bench.home, PartitionID(5)].asyncMap {
        try await bench.store.load(bench.lease(of: $0)).wasStopped
      }
    }
    let first = try await Bench(home)
    #expect(try await wasStopped(first) == [false, false])
    var last = Cut(at: first.at, partitions: [])
    last.isLast = true
    _ = try await first.store.fold(last, leases: first.leases)
    #expect(try await wasStopped(first) == [false, false], "it is about the life before")
    let second = try await Bench(try home.crashed(), era: 300)
    #expect(try await wasStopped(second) == [true, true])
    _ = try await second.store.fold(Cut(at: second.at, partitions: []), leases: second.leases)
    let third = try await Bench(try second.base.crashed(), era: 500)
    #expect(try await wasStopped(third) == [false, false])
  }
}

extension Bench {
  func delta(_ record: String, _ verb: FeedMutation.Verb, _ ordinal: UInt64) -> SubjectDelta {
    let position = Position(Ordinal(ordinal))
    return SubjectDelta(
      subject: .record(record), delta: Delta(mutation(.record(record), verb, position)))
  }

  func message(to target: PartitionID, serial: UInt64) -> OutboxRow {
    OutboxRow(
      source: home, key: OutboxRow.Key(target: target, serial: Position(Ordinal(serial))),
      message: .interests([]))
  }
}

extension Array where Element: Sendable {
  func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await body(element)) }
    return values
  }
}
