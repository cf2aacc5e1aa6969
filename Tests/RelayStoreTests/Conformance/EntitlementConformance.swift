@testable import RelayCore
import RelayEngine
import RelayStore
import Testing

/// Only entitled users can read, and the read's own snapshot decides who is entitled (P9).
@Suite struct EntitlementConformance {
  static let friend = UserID("_friend")

  @Test(arguments: StoreKind.allCases)
  func `a user's new feeds are empty and absent for other users`(
    kind: StoreKind
  ) async throws {
    let bench = try await Bench.fresh(kind)
    for feed in [bench.privates, bench.notifications] {
      let page = try await bench.read(feed)
      #expect(page.entries.isEmpty && !page.hasMore && page.next.position == .zero)
      #expect(try await bench.read(feed, after: page.next).next == page.next)
      #expect(try await bench.page(feed, by: Self.friend) == .absent)
    }
    #expect(try await bench.page(bench.feed) == .absent)
    let open = FeedKey(scope: Bench.scope, kind: .database(Bench.owner, .public))
    #expect(try await bench.page(open) == .absent)
  }

  @Test(arguments: StoreKind.allCases)
  func `a zone's feed is readable only while the zone exists`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    #expect(try await bench.page(bench.feed) == .absent)
    try await bench.makeZone()
    let empty = try await bench.read(bench.feed)
    #expect(empty.entries.isEmpty && empty.next == FeedCursor(era: empty.next.era, position: .zero))
    _ = try await bench.record("a", .created)
    let token = try await bench.read(bench.feed).next

    for verb in [FeedMutation.Verb.deleted, .purged, .reset] {
      try await bench.end(bench.zone(), verb)
      #expect(try await bench.page(bench.feed, after: token) == .absent)
      try await bench.makeZone()
      #expect(try await bench.page(bench.feed, after: token) == .expired(.trimmed))
      let anew = try await bench.read(bench.feed)
      #expect(anew.entries.isEmpty)
      #expect(try await bench.read(bench.feed, after: anew.next).entries.isEmpty)
    }
    let back = try await bench.record("a", .updated)
    let page = try await bench.read(bench.feed)
    #expect(page.entries.map(\.life.born) == [.zero], "the first life was forgotten with its zone")
    #expect(page.entries.map(\.life.position) == [back])
  }

  @Test(arguments: StoreKind.allCases)
  func `a participant can read a zone from the grant to the revocation`(kind: StoreKind)
    async throws
  {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    _ = try await bench.record("a", .created)
    #expect(try await bench.page(bench.feed, by: Self.friend) == .absent)

    try await bench.grant(Self.friend, isActive: true, floor: .zero)
    let page = try await bench.read(bench.feed, by: Self.friend)
    #expect(page.entries.map(\.subject) == [.record("a")], "records from before the grant too")

    try await bench.grant(Self.friend, isActive: false, floor: .zero)
    #expect(try await bench.page(bench.feed, after: page.next, by: Self.friend) == .absent)

    let regrant = try await bench.record("b", .created)
    try await bench.grant(Self.friend, isActive: true, floor: regrant)
    #expect(
      try await bench.page(bench.feed, after: page.next, by: Self.friend) == .expired(.trimmed))
    #expect(try await bench.read(bench.feed, after: page.next).entries.count == 1)
    #expect(try await bench.read(bench.feed, by: Self.friend).entries.count == 2)

    try await bench.end(bench.zone(), .deleted)
    #expect(try await bench.page(bench.feed, by: Self.friend) == .absent)
  }

  @Test(arguments: StoreKind.allCases)
  func `names that differ only after a zero byte are different names`(kind: StoreKind) async throws
  {
    var bench = try await Bench.fresh(kind)
    let users = ["a\0b", "a\0c", "a"].map(UserID.init)
    for user in users {
      let feed = FeedKey(scope: Bench.scope, kind: .database(user, .private))
      try await bench.mutate(feed, .zone(bench.zone("z\0" + user.name, of: user)), .created)
    }
    for user in users {
      let feed = FeedKey(scope: Bench.scope, kind: .database(user, .private))
      let page = try await bench.read(feed, by: user)
      #expect(page.entries.map(\.subject) == [.zone(bench.zone("z\0" + user.name, of: user))])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a database page carries the head of each listed zone`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    let shared = FeedKey(scope: Bench.scope, kind: .database(Bench.owner, .shared))
    let foreign = bench.zone("Theirs", of: Self.friend)
    let foreignFeed = FeedKey(scope: Bench.scope, kind: .zone(foreign))
    let theirs = try await bench.mutate(foreignFeed, .record("x"), .created)
    try await bench.mutate(shared, .zone(foreign), .created)
    try await bench.makeZone("Empty")
    try await bench.makeZone()
    let own = try await bench.record("a", .created)

    let page = try await bench.read(bench.privates)
    #expect(page.entries.map(\.subject) == [.zone(bench.zone("Empty")), .zone(bench.zone())])
    let era = bench.lease(of: bench.home).era.id
    #expect(
      page.zoneHeads == [
        FeedCursor(era: era, position: .zero), FeedCursor(era: era, position: own),
      ])
    let home = PartitionID.home(of: Self.friend, in: Bench.scope)
    #expect(
      try await bench.read(shared).zoneHeads
        == [FeedCursor(era: bench.lease(of: home).era.id, position: theirs)])
  }

  @Test(arguments: StoreKind.allCases)
  func `the store lists the present zones in order and in pages`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    let names = ["b", "a", "c", "aa", "z", "B", "10", "9"]
    for name in names { try await bench.makeZone(name) }
    try await bench.end(bench.zone("c"), .deleted)
    let expected = names.filter { $0 != "c" }.map { bench.zone($0) }.sorted()
    for limit in [1, 3, 100] {
      var zones: [ZoneID] = []
      while true {
        let part = try await bench.store.zones(
          of: Bench.owner, .private, in: Bench.scope, after: zones.last, limit: limit)
        #expect(part.count <= limit)
        if part.isEmpty { break }
        zones += part.map(\.zone)
      }
      #expect(zones == expected)
    }
  }
}

extension Bench {
  /// Ends a zone's life as the core does: clears its feed and records the end in the database feed.
  mutating func end(_ zone: ZoneID, _ verb: FeedMutation.Verb) async throws {
    let position = Position(next())
    let ended = SubjectDelta(
      subject: .zone(zone), delta: Delta(mutation(.zone(zone), verb, position)))
    let own = FeedKey(scope: Self.scope, kind: .zone(zone))
    let privates = privates
    try await fold { cut in
      cut.feeds = [
        FeedCut(feed: privates, deltas: [ended]),
        FeedCut(feed: own, cleared: position, floor: position),
      ]
    }
  }

  func grant(_ user: UserID, isActive: Bool, floor: Position) async throws {
    try await fold { cut in
      cut.grants = [
        GrantRow(
          scope: Self.scope, zone: zone(), participant: user, isActive: isActive, floor: floor)
      ]
    }
  }
}
