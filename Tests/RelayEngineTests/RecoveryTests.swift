import RelayCore
import RelayMemoryStore
import Testing

@testable import RelayEngine

/// The answers of an engine that recovers, or whose recovery failed.
@Suite(.timeLimit(.minutes(1))) struct RecoveryTests {
  private static let place = ReadTarget.feed(
    FeedKey(scope: World.scope, kind: .zone(ZoneID(name: "Notes", owner: UserID("_a")))))

  /// An acknowledged change may be in the journal alone, and a page would miss it (P4).
  @Test func `the engine refuses reads and facts before recovery is over`() async throws {
    let engine = World().engine
    await #expect(throws: Unavailable.recovering) {
      try await engine.visible(Self.place)
    }
    await #expect(throws: Unavailable.recovering) {
      try await engine.submit([World.registration("_a", 1, token: 1)])
    }
  }

  /// A probe does not wait for recovery, also after the engine was told to take no more changes.
  @Test func `the engine answers a health probe before recovery is over`() async {
    let engine = World().engine
    for _ in 0..<2 {
      let health = await engine.health()
      #expect(!health.isReady && !health.healthy)
      #expect(health.reasons == ["recovery is not over yet"])
      engine.drain()
    }
  }

  /// Readiness does not depend on the loop, which may be busy.
  @Test func `the engine's readiness is known without its loop`() async throws {
    let world = World()
    #expect(world.engine.readiness == .recovering)
    try await world.run { (engine: Engine) async throws -> Void in
      #expect(engine.readiness == .ready)
      engine.drain()
      #expect(engine.readiness == .draining)
    }
    #expect(world.engine.readiness == .stopping)
  }

  @Test func `a drain during recovery stays in effect`() async throws {
    let world = World()
    world.engine.drain()
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await world.engine.run() }
      while world.engine.readiness != .draining { await Task.yield() }
      await #expect(throws: Unavailable.draining) {
        try await world.engine.submit([World.registration("_a", 1, token: 1)])
      }
      world.engine.stop()
    }
  }

  /// Each waiting caller gets an answer, and the engine ends with a reason.
  @Test func `a failed recovery answers every caller`() async throws {
    let world = World()
    let engine = world.engine
    world.store.inject([.refused(StoreError(.corrupt, "a row is damaged"))], into: .load)
    async let reload: Void = engine.reconfigure(EngineReconfiguration(settings: RelaySettings()))
    let error = await #expect(throws: StoreError.self) { try await engine.run() }
    #expect(error?.code == .corrupt)
    await reload
    #expect(await engine.health().reasons == ["it is stopping"])
    await #expect(throws: Unavailable.draining) {
      try await engine.submit([World.registration("_a", 1, token: 1)])
    }
  }

  /// Exiting would make no room, and the supervisor would soon stop restarting the daemon.
  @Test func `a start on a full disk waits for room and reports it`() async throws {
    let world = World()
    let full = StoreError(.full, "relay.db has no room")
    world.store.inject([.refused(full)], into: .claim)
    let engine = world.engine
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await engine.run() }
      #expect(try await Self.reasons(of: engine).first?.contains("relay.db has no room") == true)
      while await engine.health().uptime == 0 { await Task.yield() }
      let waiting = await engine.health()
      #expect(waiting.store.engine == "memory" && waiting.routes.map(\.key) == [World.route])
      #expect(Unavailable(notReady: engine.readiness) == .recovering)
      while await !engine.health().isReady, engine.readiness != .stopping { await Task.yield() }
      #expect(await engine.health().healthy)
      engine.stop()
      try await group.waitForAll()
    }
  }

  @Test func `a start that waits for room can be stopped`() async throws {
    let world = World()
    let full = StoreError(.full, "relay.db has no room")
    world.store.inject(Array(repeating: .refused(full), count: 1_000), into: .claim)
    let engine = world.engine
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await engine.run() }
      #expect(try await Self.reasons(of: engine).first?.contains("relay.db has no room") == true)
      engine.stop()
      try await group.waitForAll()
    }
  }

  /// Waits until the readiness is no longer `recovering`, and returns why the engine is not ready.
  private static func reasons(of engine: Engine) async throws -> [String] {
    while engine.readiness == .recovering { await Task.yield() }
    return engine.readiness.reasons
  }

  /// When another service fails, the loop's task is cancelled, and the loop ends, though nothing
  /// calls `stop`.
  @Test func `a cancelled engine ends and loses no accepted change`() async throws {
    let world = World()
    let zone = ZoneID(name: "Notes", owner: UserID("_a"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await world.engine.run() }
      while await !world.engine.health().isReady { await Task.yield() }
      #expect(try await world.engine.submit([World.change(1, zone)]) == [.accepted])
      group.cancelAll()
      try await group.waitForAll()
    }
    let next = World(MemoryStore(world: world.store.world))
    try await next.run { (engine: Engine) async throws -> Void in
      #expect(try await engine.submit([World.change(1, zone)]) == [.duplicate])
    }
  }

  /// A start reads the journal once for all partitions, and not once for each of them.
  @Test func `the engine reads the journal once at its start`() async throws {
    let world = World()
    try await world.run { (engine: Engine) async throws -> Void in
      for number in UInt64(0)..<20 {
        let zone = ZoneID(name: "Notes", owner: UserID("_u\(number)"))
        _ = try await engine.submit([World.change(number, zone)])
      }
    }
    let store = MemoryStore(world: world.store.world)
    let front = HeldStore(store)
    try await World(store, front: front).run { (engine: Engine) async throws -> Void in
      #expect(front.journalReads == 1)
    }
  }
}
