import RelayCore
import RelayMemoryStore
import Testing

@testable import RelayEngine

/// A hole that stays open for `gapAfter` becomes a gap, by a fact in the journal.
@Suite struct GapTests {
  private let zone = ZoneID(name: "Notes", owner: UserID("_a"))

  private func world(_ store: MemoryStore = MemoryStore(), gapAfter: Span) -> World {
    World(store) { $0.limits.gapAfter = gapAfter }
  }

  private func numbered(_ number: Int64) -> Fact {
    guard case .change(var change) = World.change(UInt64(number), zone) else {
      preconditionFailure("a change is a change")
    }
    (change.sequence, change.origin) = (number, 1)
    return .change(change)
  }

  /// Waits for the engine's own timer, until a page of the zone shows a gap, or no gap if
  /// `expected` is false.
  private func untilGap(is expected: Bool, _ world: World, _ engine: Engine) async throws {
    let feed = FeedKey(scope: World.scope, kind: .zone(zone))
    while true {
      try await engine.visible(.feed(feed))
      let query = PageQuery(feed: feed, reader: zone.owner, after: nil, limit: 10)
      if case .page(let page) = try await world.store.page(query), page.hasGap == expected {
        return
      }
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a gap is announced and ends when the missing number arrives`() async throws {
    let world = world(gapAfter: Span(milliseconds: 20))
    try await world.run { (engine: Engine) async throws -> Void in
      #expect(try await engine.submit([numbered(1), numbered(3)]) == [.accepted, .accepted])
      try await untilGap(is: true, world, engine)
      #expect(await engine.health().zonesWithGap == 1)
      _ = try await engine.submit([numbered(2)])
      try await untilGap(is: false, world, engine)
      #expect(await engine.health().zonesWithGap == 0)
    }
  }

  @Test(.timeLimit(.minutes(1))) func `a hole stays open across a restart and becomes a gap`()
    async throws
  {
    let first = world(gapAfter: .hours(1))
    try await first.run { (engine: Engine) async throws -> Void in
      _ = try await engine.submit([numbered(1), numbered(3)])
    }
    let second = world(MemoryStore(world: first.store.world), gapAfter: Span(milliseconds: 20))
    try await second.run { (engine: Engine) async throws -> Void in
      try await untilGap(is: true, second, engine)
    }
  }
}
