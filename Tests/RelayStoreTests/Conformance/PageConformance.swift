@testable import RelayCore
import RelayEngine
import RelayStore
import Testing

/// Reading feeds by pages (P2, P3, P10).
@Suite struct PageConformance {
  @Test(arguments: StoreKind.allCases)
  func `a subject has one entry at the position of its last change`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    _ = try await bench.record("a", .created)
    _ = try await bench.record("b", .created)
    let last = try await bench.record("a", .updated)
    let page = try await bench.read(bench.feed)
    #expect(page.entries.map(\.subject) == [.record("b"), .record("a")])
    #expect(page.entries.last?.life.position == last)
    #expect(page.next.position == last && !page.hasMore)
  }

  @Test(arguments: StoreKind.allCases)
  func `pages of every size show the same entries in total`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    for index in 0..<12 { _ = try await bench.record("r\(index)", .created) }
    let middle = try await bench.read(bench.feed).next
    for index in [1, 5, 9] { _ = try await bench.record("r\(index)", .deleted) }
    for index in [2, 3] { _ = try await bench.record("r\(index)", .updated) }
    _ = try await bench.record("late", .created)
    _ = try await bench.record("late", .deleted)
    for limit in 1...14 {
      let all = try await bench.follow(bench.feed, limit: limit)
      #expect(all.entries.filter { $0.life.isPresent }.count == 9)
      #expect(all.entries.allSatisfy { $0.life.isPresent })
      #expect(all.pages == max(1, (9 + limit - 1) / limit))
      let since = try await bench.follow(bench.feed, from: middle, limit: limit)
      // Five records changed. Later pages may also show the record that was created and deleted.
      let changed = ["r1", "r5", "r9", "r2", "r3"].map(Subject.record)
      #expect(Set(since.entries.map(\.subject)).isSuperset(of: changed))
      #expect(since.end == all.end)
      if limit >= 5 { #expect(since.entries.count == 5) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a token is valid from the floor to the head and expires outside`(
    kind: StoreKind
  ) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    for index in 0..<6 { _ = try await bench.record("r\(index)", .created) }
    let head = try await bench.store.head(of: bench.feed)
    let floor = Position(Ordinal(head.position.ordinal.number - 2))
    let raise = FeedCut(feed: bench.feed, floor: floor)
    try await bench.fold { $0.feeds = [raise] }
    func ask(_ position: Position, era: UInt64? = nil) async throws -> PageAnswer {
      try await bench.page(bench.feed, after: FeedCursor(era: era ?? head.era, position: position))
    }
    #expect(try await ask(Position(bits: floor.bits - 1)) == .expired(.trimmed))
    guard case .page(let page) = try await ask(floor) else { throw Bench.NoPage(answer: .absent) }
    #expect(page.entries.count == 2)
    #expect(try await bench.read(bench.feed, after: head).entries.isEmpty)
    let lost = Expiry.lostHistory(since: Position(bench.lease(of: bench.home).era.first))
    #expect(try await ask(Position(bits: head.position.bits + 1)) == .expired(lost))
    #expect(try await ask(head.position, era: 4_711) == .expired(lost))
  }

  @Test(arguments: StoreKind.allCases)
  func `a token of an earlier era is valid up to the end of that era`(kind: StoreKind) async throws
  {
    let home = try kind.home()
    var bench = try await Bench(home, era: 100)
    try await bench.makeZone()
    _ = try await bench.record("a", .created)
    let old = try await bench.store.head(of: bench.feed)
    await bench.store.close()
    var again = try await Bench(home.crashed(), era: 500)
    let later = try await again.record("b", .created)
    let page = try await again.read(again.feed, after: old)
    #expect(page.entries.map(\.subject) == [.record("b")])
    #expect(page.next == FeedCursor(era: again.lease(of: again.home).era.id, position: later))
    #expect(
      try await again.page(again.feed, after: FeedCursor(era: old.era, position: later))
        == .expired(.lostHistory(since: Position(again.lease(of: again.home).era.first))))
    await again.store.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `the token of an unchanged feed stays the same over restarts`(kind: StoreKind) async throws {
    let home = try kind.home()
    var bench = try await Bench(home, era: 100)
    try await bench.makeZone()
    let first = try await bench.read(bench.privates).next
    let empty = try await bench.store.head(of: bench.feed)
    await bench.store.close()
    var last = home as any StoreHome
    for era in [UInt64(500), 900] {
      last = try last.crashed()
      let again = try await Bench(last, era: era)
      #expect(try await again.read(again.privates).next == first)
      #expect(try await again.store.head(of: again.feed) == empty)
      #expect(try await again.read(again.feed, after: empty).entries.isEmpty)
      await again.store.close()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a reader gets each entry once and in order while a writer adds entries`(
    kind: StoreKind
  ) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    let start = bench
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var writer = start
        for index in 0..<120 { _ = try await writer.record("r\(index)", .created) }
      }
      group.addTask {
        var place: FeedCursor?
        var seen: [Entry] = []
        while seen.count < 120 {
          let page = try await start.read(start.feed, after: place, limit: 7)
          seen += page.entries
          place = page.next
          if page.entries.isEmpty { await Task.yield() }
        }
        #expect(seen.map(\.subject) == (0..<120).map { .record("r\($0)") })
      }
      try await group.waitForAll()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a scan does not show records that were deleted before it began`(kind: StoreKind)
    async throws
  {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    for index in 0..<40 {
      _ = try await bench.record("r\(index)", .created)
      _ = try await bench.record("r\(index)", .deleted)
    }
    let page = try await bench.read(bench.feed, limit: 5)
    #expect(page.entries.isEmpty && !page.hasMore)
    let head = try await bench.store.head(of: bench.feed)
    #expect(page.next == head)
  }

  @Test(arguments: StoreKind.allCases)
  func `a scan shows a deletion that happens during the scan`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    for index in 0..<4 { _ = try await bench.record("r\(index)", .created) }
    let first = try await bench.read(bench.feed, limit: 2)
    _ = try await bench.record("r0", .deleted)
    let rest = try await bench.follow(bench.feed, from: first.next, limit: 2)
    #expect(rest.entries.map(\.subject) == [.record("r2"), .record("r3"), .record("r0")])
    #expect(rest.entries.last?.life.isPresent == false)
  }

  /// A reader who was away while many records were created and deleted sees none of them. Each page
  /// reads a bounded number of entries, so that other readers are not delayed.
  @Test(arguments: StoreKind.allCases)
  func `a page ends after looksMax hidden entries, and the next page continues`(
    kind: StoreKind
  ) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone()
    _ = try await bench.record("before", .created)
    let away = try await bench.read(bench.feed).next
    let names = (0..<2_100).map { "r\($0)" }
    try await bench.records(names, .created)
    let gone = try await bench.records(names, .deleted)
    let last = try await bench.record("after", .created)
    let first = try await bench.read(bench.feed, after: away)
    #expect(first.entries.isEmpty && first.hasMore)
    #expect(first.next.position == gone[PageQuery.looksMax - 1])
    let all = try await bench.follow(bench.feed, from: away, limit: 200)
    #expect(all.entries.map(\.subject) == [.record("after")])
    #expect(all.end.position == last && all.pages == 2)
    #expect(all.end == (try await bench.store.head(of: bench.feed)))
    // A scan from the beginning skips the entries of deleted records without reading them.
    let anew = try await bench.follow(bench.feed, limit: 200)
    #expect(anew.entries.map(\.subject) == [.record("before"), .record("after")])
    #expect(anew.end == all.end && anew.pages == 1)
  }
}

extension Bench {
  /// Folds one mutation of each record, all in one cut.
  @discardableResult
  fileprivate mutating func records(
    _ names: [String], _ verb: FeedMutation.Verb
  ) async throws -> [Position] {
    let positions = names.map { _ in Position(next()) }
    let deltas = zip(names, positions).map { name, position in
      SubjectDelta(
        subject: .record(name), delta: Delta(mutation(.record(name), verb, position)))
    }
    let feed = feed
    try await fold { $0.feeds = [FeedCut(feed: feed, deltas: deltas)] }
    return positions
  }
}
