import RelayCore
import RelayEngine
import RelayStore
import Testing

/// Retention: a trim removes only tombstones and old notifications, and raises the feed's floor to
/// the last of them.
@Suite struct TrimConformance {
  /// Limit: retention.tombstones
  @Test(arguments: StoreKind.allCases)
  func `a trim removes old tombstones in slices and expires their tokens`(
    kind: StoreKind
  ) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    var places: [Position] = []
    for index in 0..<6 { _ = try await bench.record("r\(index)", .created) }
    for index in 0..<5 {
      bench.at = Instant(milliseconds: 2_000 + Int64(index))
      places.append(try await bench.record("r\(index)", .deleted))
    }
    let era = try await bench.read(bench.feed).next.era
    let border = Instant(milliseconds: 2_003)
    #expect(try await bench.trim(border, limit: 2) == 2)
    #expect(try await bench.trim(border, limit: 2) == 1)
    #expect(try await bench.trim(border, limit: 2) == 0)
    func ask(_ index: Int) async throws -> PageAnswer {
      try await bench.page(bench.feed, after: FeedCursor(era: era, position: places[index]))
    }
    #expect(try await ask(1) == .expired(.trimmed))
    guard case .page(let page) = try await ask(2) else { throw Bench.NoPage(answer: .absent) }
    #expect(page.entries.map(\.subject) == [.record("r3"), .record("r4")])
    #expect(try await bench.read(bench.feed).entries.map(\.subject) == [.record("r5")])
    // A record that comes back after its tombstone was removed is new to every reader.
    let back = try await bench.record("r0", .created)
    let anew = try await bench.read(bench.feed, after: FeedCursor(era: era, position: places[4]))
    #expect(anew.entries.map(\.life.born) == [back])
  }

  /// Records that come and go under new names do not make a zone longer without end.
  @Test(arguments: StoreKind.allCases)
  func `a zone keeps at most as many tombstones as it may have records`(kind: StoreKind)
    async throws
  {
    var limits = Limits()
    limits.recordsPerZone = 6
    var bench = try await Bench.fresh(kind, limits)
    try await bench.makeZone()
    _ = try await bench.record("stays", .created)
    for index in 0..<20 { _ = try await bench.record("r\(index)", .created) }
    let start = try await bench.read(bench.feed).next
    var gone: [Position] = []
    for index in 0..<20 {
      gone.append(try await bench.record("r\(index)", .deleted))
      guard index == 5 else { continue }
      // The zone has as many tombstones as it may have, and the token from before all of them is
      // valid.
      #expect(try await bench.page(bench.feed, after: start) != .expired(.trimmed))
    }
    func ask(_ index: Int) async throws -> PageAnswer {
      try await bench.page(bench.feed, after: FeedCursor(era: start.era, position: gone[index]))
    }
    #expect(try await bench.page(bench.feed, after: start) == .expired(.trimmed))
    #expect(try await ask(12) == .expired(.trimmed))
    guard case .page(let page) = try await ask(13) else { throw Bench.NoPage(answer: .absent) }
    #expect(page.entries.map(\.subject) == (14..<20).map { .record("r\($0)") })
    #expect(try await bench.read(bench.feed).entries.map(\.subject) == [.record("stays")])
    // Cleared entries count as tombstones until they are removed, and they are removed first.
    try await bench.end(bench.zone(), .reset)
    try await bench.makeZone()
    let anew = try await bench.read(bench.feed).next
    for index in 0..<6 {
      _ = try await bench.record("r\(index)", .created)
      _ = try await bench.record("r\(index)", .deleted)
    }
    let next = try await bench.read(bench.feed, after: anew)
    #expect(next.entries.allSatisfy { !$0.life.isPresent })
  }

  /// The tombstones of zones that come and go in the owner's database are bounded too.
  @Test(arguments: StoreKind.allCases)
  func `a database keeps at most as many tombstones as it may have zones`(kind: StoreKind)
    async throws
  {
    var limits = Limits()
    limits.zonesPerUser = 3
    var bench = try await Bench.fresh(kind, limits)
    let feed = bench.privates
    var gone: [Position] = []
    let zones = (0..<8).map { Subject.zone(bench.zone("Z\($0)")) }
    for zone in zones { try await bench.mutate(feed, zone, .created) }
    for zone in zones { gone.append(try await bench.mutate(feed, zone, .deleted)) }
    let era = try await bench.read(feed).next.era
    #expect(
      try await bench.page(feed, after: FeedCursor(era: era, position: gone[3]))
        == .expired(.trimmed))
    let page = try await bench.read(feed, after: FeedCursor(era: era, position: gone[4]))
    #expect(page.entries.map(\.subject) == zones.suffix(3))
  }

  /// Limit: retention.notifications
  @Test(arguments: StoreKind.allCases)
  func `a trim removes old notifications but no other present entry`(
    kind: StoreKind
  ) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    _ = try await bench.record("a", .created)
    var places: [Position] = []
    for index in 0..<4 {
      bench.at = Instant(milliseconds: 2_000 + Int64(index))
      let subject = Subject.notification(
        SubscriptionID("s\(index)"), zone: bench.zone(), record: nil)
      places.append(try await bench.mutate(bench.notifications, subject, .created))
    }
    let token = try await bench.read(bench.notifications, limit: 1).next
    let removed = try await bench.store.trim(
      tombstones: .never, notifications: Instant(milliseconds: 2_002), feedback: .zero, limit: 100,
      leases: bench.leases)
    #expect(removed == 2)
    #expect(
      try await bench.read(bench.notifications).entries.map(\.life.position) == Array(places[2...]))
    #expect(
      try await bench.page(
        bench.notifications, after: FeedCursor(era: token.era, position: token.position))
        == .expired(.trimmed))
    // This catch-up began without a token. It can continue, because the feed's newest position when
    // the catch-up began is above the floor.
    #expect(try await bench.read(bench.notifications, after: token).entries.count == 2)
    #expect(try await bench.read(bench.feed).entries.count == 1)
    #expect(try await bench.read(bench.privates).entries.count == 1)
  }

  @Test(arguments: StoreKind.allCases)
  func `a trim removes cleared entries in slices and raises no floor`(kind: StoreKind) async throws
  {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    for index in 0..<10 { _ = try await bench.record("r\(index)", .created) }
    try await bench.end(bench.zone(), .reset)
    try await bench.makeZone()
    _ = try await bench.record("r3", .created)
    let before = try await bench.read(bench.feed)
    #expect(before.entries.count == 1)
    let slices = try await bench.trimAll(inSlicesOf: 4) { [bench] () async throws in
      #expect(try await bench.read(bench.feed) == before)
    }
    #expect(slices == [4, 4, 1])
    #expect(try await bench.read(bench.feed, after: before.next).entries.isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `removed cleared entries no longer count towards a zone's tombstones`(kind: StoreKind)
    async throws
  {
    var limits = Limits()
    limits.recordsPerZone = 6
    var bench = try await Bench.fresh(kind, limits)
    try await bench.makeZone()
    for index in 0..<6 { _ = try await bench.record("r\(index)", .created) }
    try await bench.end(bench.zone(), .reset)
    try await bench.makeZone()
    #expect(try await bench.trimAll(inSlicesOf: 4) == [4, 2])
    let anew = try await bench.read(bench.feed).next
    for index in 0..<6 {
      _ = try await bench.record("s\(index)", .created)
      _ = try await bench.record("s\(index)", .deleted)
    }
    #expect(try await bench.page(bench.feed, after: anew) != .expired(.trimmed))
  }

  /// Zones that never existed can be deleted. The feeds of such zones are empty, and there may be
  /// very many zones.
  @Test(arguments: StoreKind.allCases)
  func `an empty cleared feed counts as one row of a trim slice`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    for index in 0..<3 { _ = try await bench.record("r\(index)", .created) }
    try await bench.end(bench.zone(), .deleted)
    for index in 0..<10 { try await bench.end(bench.zone("Z\(index)"), .deleted) }
    let slices = try await bench.trimAll(inSlicesOf: 4)
    #expect(slices == [4, 4, 4, 1])
    #expect(try await bench.trim(.zero, limit: 4) == 0)
  }

  @Test(arguments: StoreKind.allCases)
  func `a client that reads during trims reaches the net state`(kind: StoreKind) async throws {
    for seed in 0..<12 {
      var bench = try await Bench.fresh(kind)
      var draw = SeededRandom(seed: UInt64(seed))
      try await bench.makeZone()
      for index in 0..<20 { _ = try await bench.record("r\(index)", .created) }
      var client = History.Client(limit: 3)
      for step in 0..<40 {
        let now = Instant(milliseconds: 2_000 + Int64(step))
        bench.at = now
        if draw.flag(), step < 30 {
          _ = try await bench.record("r\(draw.number(0..<20))", draw.pick([.deleted, .updated]))
        }
        if draw.number(0..<4) == 0 { _ = try await bench.trim(now, limit: 5) }
        try await client.step(bench, bench.feed)
      }
      while try await client.step(bench, bench.feed) {}
      let whole = try await bench.follow(bench.feed, limit: 200)
      #expect(client.known == Set(whole.entries.map(\.subject)), "seed \(seed)")
    }
  }
}

extension Bench {
  /// Trims again and again until a trim removes fewer rows than `limit`, and returns how many rows
  /// each trim removed.
  func trimAll(inSlicesOf limit: Int, after: () async throws -> Void = {}) async throws -> [Int] {
    var slices: [Int] = []
    repeat {
      slices.append(try await trim(.zero, limit: limit))
      try await after()
    } while slices.last == limit
    return slices
  }

  func trim(_ tombstones: Instant, limit: Int) async throws -> Int {
    try await store.trim(
      tombstones: tombstones, notifications: .zero, feedback: .zero, limit: limit, leases: leases)
  }
}
