import RelayMemoryStore
import Testing

@testable import RelayCore
@testable import RelayEngine

/// While readers wait, every second cut leaves out the partitions that have much to fold.
@Suite(.timeLimit(.minutes(1))) struct LargePartitionTests {
  /// In earlier versions, a reader waited for two folds, each with a thousand records of another
  /// partition.
  @Test(
    arguments: [
      (WorkBounds().entriesOfLarge, [["_b"], ["_b"], ["_a"]]), (100, [["_b"], ["_a", "_b"]]),
    ])
  func `a reader's fold leaves out another partition that is large`(
    records: Int, cuts: [[String]]
  ) async throws {
    let home = { PartitionID.home(of: UserID($0), in: World.scope) }
    try #require(home("_a") != home("_b"))
    let store = MemoryStore()
    let front = HeldStore(store)
    let world = World(store, front: front)
    let (large, small) = (Self.zone("_a"), Self.zone("_b"))
    try await world.run { (engine: Engine) async throws -> Void in
      front.hold(.fold)
      _ = try await engine.submit([World.change(1, small)])
      async let first: Void = engine.visible(Self.place(small))
      while front.held < 1 { await Task.yield() }
      _ = try await engine.submit(
        (0..<records).map { World.change(UInt64(10 + $0), large, record: "r\($0)") })
      _ = try await engine.submit([World.change(2, small)])
      async let second: Void = engine.visible(Self.place(small))
      async let third: Void = engine.visible(Self.place(large))
      while engine.waiting < 3 { await Task.yield() }
      while await engine.health().store.journalTail < records + 2 {}
      front.release()
      _ = try await (first, second, third)
    }
    #expect(Array(front.cuts.prefix(cuts.count)) == cuts.map { Set($0.map(home)) })
  }

  private static func zone(_ owner: String) -> ZoneID {
    ZoneID(name: "Notes", owner: UserID(owner))
  }

  private static func place(_ zone: ZoneID) -> ReadTarget {
    .feed(FeedKey(scope: World.scope, kind: .zone(zone)))
  }
}
