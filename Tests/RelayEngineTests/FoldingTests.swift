import RelayMemoryStore
import Testing

@testable import RelayCore
@testable import RelayEngine

/// Folds go on, and the work that waits for folds is bounded, however much other work the engine
/// has.
@Suite(.timeLimit(.minutes(1))) struct FoldingTests {
  private let zone = ZoneID(name: "Notes", owner: UserID("_a"))

  /// In this test there is always more to trim, and each change still becomes visible.
  @Test func `a trim backlog does not delay folds`() async throws {
    let world = World { $0.trimEvery = .zero }
    let zone = zone
    try await world.run { (engine: Engine) async throws -> Void in
      for number in UInt64(1)...3 {
        #expect(try await engine.submit([World.change(number, zone)]) == [.accepted])
        try await engine.visible(.feed(FeedKey(scope: World.scope, kind: .zone(zone))))
      }
      #expect(await engine.health().store.folds >= 3)
    }
  }

  /// The feeds of 2,500 deleted zones have no entries. Between two folds, a trim visits at most a
  /// thousand of these feeds.
  @Test func `the engine trims cleared empty feeds in slices without waiting`() async throws {
    let (zone, memory) = (zone, MemoryStore())
    let home = PartitionID.home(of: zone.owner, in: World.scope)
    let (leases, end) = (try await memory.claim(eras: [home: 7]), Ordinal(1))
    var part = PartitionCut(id: home, cursor: end)
    part.feeds = (0..<2_500).map { number in
      let ended = ZoneID(name: "Z\(number)", owner: zone.owner)
      return FeedCut(
        feed: FeedKey(scope: World.scope, kind: .zone(ended)), cleared: Position(end),
        floor: Position(end))
    }
    _ = try await memory.fold(Cut(at: .zero, partitions: [part]), leases: leases)
    let store = HeldStore(memory)
    let world = World(memory, front: store) { $0.trimEvery = .minutes(10) }
    try await world.run { (engine: Engine) async throws -> Void in
      for number in UInt64(1)...8 {
        #expect(try await engine.submit([World.change(number, zone)]) == [.accepted])
        try await engine.visible(.feed(FeedKey(scope: World.scope, kind: .zone(zone))))
      }
      #expect(store.trims == [1_000, 1_000, 500])
    }
  }

  /// Fixed limit: facts journalled and not folded
  /// Fixed limit: entries of feeds that wait for a fold
  @Test(arguments: [(below: 2, isTaken: true), (1, true), (0, false)])
  func `a fact is accepted while there is room for one more`(below: Int, isTaken: Bool) {
    let settings = RelaySettings()
    #expect(settings.hasRoom(tail: 1_000_000 - below, entries: 0) == isTaken)
    #expect(settings.hasRoom(tail: 0, entries: 500_000 - below) == isTaken)
  }

  /// A registration needs a fold, and folds are refused. Changes need only the journal.
  @Test func `the engine accepts changes while the store refuses folds`() async throws {
    let (clock, store) = (ShiftedClock(), MemoryStore())
    let world = World(store, clock: clock)
    let zone = zone
    try await world.run { (engine: Engine) async throws -> Void in
      store.inject(Array(repeating: .refused(StoreError(.full, "no room")), count: 50), into: .fold)
      await #expect(throws: Unavailable.self) {
        try await engine.submit([World.registration("_b", 1, token: 0xb1)])
      }
      for part in UInt64(0)..<5 {
        let changes = (0..<400).map { index in
          World.change(part * 400 + UInt64(index), zone, record: "r\(part)-\(index)")
        }
        #expect(try await engine.submit(changes) == Array(repeating: .accepted, count: 400))
      }
    }
  }

  /// The bound holds at once, not only after the next fold has ended.
  @Test func `the journal's tail stays bounded while no fold ends`() async throws {
    let world = World { $0.journalTailMax = 4 }
    let zone = zone
    try await world.run { (engine: Engine) async throws -> Void in
      let full = StoreError(.full, "no room")
      world.store.inject([.refused(full), .refused(full)], into: .fold)
      #expect(try await engine.submit([World.change(1, zone)]) == [.accepted])
      while await engine.health().reasons.isEmpty { await Task.yield() }
      var taken: UInt64 = 1
      await #expect(throws: Unavailable.storeFull) {
        while taken < 20 {
          taken += 1
          _ = try await engine.submit([World.change(taken, zone)])
        }
      }
      #expect(taken <= 5)
      let feed = ReadTarget.feed(FeedKey(scope: World.scope, kind: .zone(zone)))
      // Reads are refused for as long as folds are refused.
      while (try? await engine.visible(feed)) == nil { await Task.yield() }
      #expect(try await engine.submit([World.change(99, zone)]) == [.accepted])
    }
  }

  /// The journal refused a request, and no other request comes. The engine tries the store once a
  /// second until the store accepts a write.
  @Test(arguments: [0, 2]) func `a quiet relay notices that the store has room again`(
    _ refusals: Int
  ) async throws {
    let clock = ShiftedClock()
    let world = World(clock: clock)
    let zone = zone
    try await world.run { (engine: Engine) async throws -> Void in
      let full = StoreError(.full, "no room")
      var store = await engine.health().store
      while store.folds == 0 || store.journalTail > 0 { store = await engine.health().store }
      world.store.inject([.refused(full)], into: .append)
      world.store.inject(Array(repeating: .refused(full), count: refusals), into: .fold)
      await #expect(throws: Unavailable.storeFull) {
        try await engine.submit([World.change(1, zone)])
      }
      #expect(await engine.health().reasons == ["the store refuses writes: no room"])
      for _ in 0...refusals {
        clock.pass(.seconds(1))
        for _ in 0..<100 { _ = await engine.health() }
      }
      while await !engine.health().reasons.isEmpty { await Task.yield() }
      for _ in 0..<100 { _ = await engine.health() }
      #expect(await engine.health().store.folds == store.folds + 1)
    }
  }
}
