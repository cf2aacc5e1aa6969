@testable import RelayCore
import RelayEngine
import RelayStore
import Testing

/// A store tells how full a zone or a database is, and whether one request could fill it.
@Suite struct HoldingsConformance {
  private static func limits() -> Limits {
    var limits = Limits()
    limits.recordsPerZone = 6
    limits.nearlyFull = 2
    return limits
  }

  @Test(arguments: StoreKind.allCases)
  func `the count of a feed includes present entries only`(
    kind: StoreKind
  ) async throws {
    let home = try kind.home(Self.limits())
    var bench = try await Bench(home)
    let feed = bench.feed
    func present() async throws -> Int {
      try await bench.store.holdings(of: feed, among: []).present
    }
    #expect(try await present() == 0, "there is no feed yet")
    try await bench.makeZone()
    for name in ["a", "b", "c"] { _ = try await bench.record(name, .created) }
    _ = try await bench.record("a", .updated)
    #expect(try await present() == 3)
    _ = try await bench.record("b", .deleted)
    _ = try await bench.record("never", .deleted)
    #expect(try await present() == 2)
    _ = try await bench.record("b", .created)
    let subjects: Set<Subject> = [.record("b"), .record("never"), .record("x")]
    #expect(
      try await bench.store.holdings(of: feed, among: subjects)
        == Holdings(present: 3, held: [.record("b")], max: 6))
    try await bench.end(bench.zone(), .deleted)
    #expect(
      try await bench.store.holdings(of: feed, among: subjects)
        == Holdings(present: 0, held: [], max: 6))
    try await bench.makeZone()
    _ = try await bench.record("c", .updated)
    #expect(try await present() == 1)
    #expect(try await bench.store.holdings(of: bench.privates, among: []).present == 1)
  }

  @Test(arguments: StoreKind.allCases)
  func `the digest lists no zone up to the cleared position`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    try await bench.makeZone("Cleared")
    let cleared = Position(try #require(bench.lasts[bench.home]))
    try await bench.makeZone("Kept")
    try await bench.fold { $0.feeds = [FeedCut(feed: bench.privates, cleared: cleared)] }
    let digest = try await bench.store.zones(
      of: Bench.owner, .private, in: Bench.scope, after: nil, limit: 9)
    #expect(digest.map(\.zone) == [bench.zone("Kept")])
  }

  @Test(arguments: StoreKind.allCases)
  func `a feed counts as nearly full from its margin on, also after a restart`(
    kind: StoreKind
  ) async throws {
    let home = try kind.home(Self.limits())
    var bench = try await Bench(home)
    try await bench.makeZone()
    for name in ["a", "b", "c"] { _ = try await bench.record(name, .created) }
    #expect(!bench.store.isNearlyFull(bench.feed))
    #expect(bench.store.isAnyNearlyFull == (kind == .memory))
    _ = try await bench.record("d", .created)
    #expect(bench.store.isNearlyFull(bench.feed) && bench.store.isAnyNearlyFull)
    #expect(
      !bench.store.isNearlyFull(bench.privates) && !bench.store.isNearlyFull(bench.notifications))
    let again = try await Bench(home.crashed(), era: 7_000)
    #expect(again.store.isNearlyFull(again.feed))
    _ = try await bench.record("d", .deleted)
    #expect(!bench.store.isNearlyFull(bench.feed))
    _ = try await bench.record("d", .created)
    try await bench.end(bench.zone(), .purged)
    #expect(!bench.store.isNearlyFull(bench.feed))
  }
}
