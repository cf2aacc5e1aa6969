import RelayCore
import RelayMemory
import RelayMemoryStore
import Testing

@testable import RelayEngine

/// A jump in a device's wake numbers tells the device that it may have missed a wake. A clean stop
/// makes no jump, and no number is given out twice.
@Suite(.timeLimit(.minutes(1))) struct WakeNumberTests {
  private let zone = ZoneID(name: "Notes", owner: UserID("_a"))

  private static func wakes(_ world: World) -> [UInt64] { world.provider.pushes.map(\.id.low) }

  /// Runs one more life, which sends one wake and is stopped.
  private func life(_ store: MemoryStore, change: UInt64) async throws -> (World, MemoryWorld) {
    let world = World(store)
    let zone = zone
    let running = Running()
    try await world.run { (engine: Engine) async throws -> Void in
      _ = try await engine.submit([World.registration("_a", 1, token: 0xa1)])
      _ = try await engine.submit([World.zoneSubscription("_a", zone)])
      let record = World.change(change, zone, record: "R\(change)")
      #expect(try await engine.submit([record]) == [.accepted])
      await world.provider.took(1)
      await running.keep(world.store.world)
    }
    return (world, await running.world)
  }

  @Test func `after a clean stop wake numbers continue without a jump`() async throws {
    var store = MemoryStore()
    var given: [UInt64] = []
    for change in UInt64(1)...3 {
      let (world, _) = try await life(store, change: change)
      given += Self.wakes(world)
      store = MemoryStore(world: world.store.world)
    }
    #expect(given == [1, 2, 3])
  }

  @Test func `after a crash wake numbers may jump but never repeat`() async throws {
    let (first, crashed) = try await life(MemoryStore(), change: 1)
    #expect(Self.wakes(first) == [1])
    let (second, again) = try await life(MemoryStore(world: crashed), change: 2)
    #expect(Self.wakes(second).allSatisfy { $0 > 1 })
    let (third, _) = try await life(MemoryStore(world: again), change: 3)
    #expect(Self.wakes(third).allSatisfy { $0 > (Self.wakes(second).max() ?? .max) })
  }

  /// The mark of a clean stop counts for one start.
  @Test func `a crash after a clean stop repeats no wake number`() async throws {
    let (first, _) = try await life(MemoryStore(), change: 1)
    let (second, crashed) = try await life(MemoryStore(world: first.store.world), change: 2)
    let (third, _) = try await life(MemoryStore(world: crashed), change: 3)
    #expect(Self.wakes(second) == [2])
    #expect(Self.wakes(third).allSatisfy { $0 > 2 })
  }

  /// A stop that cannot write its last fold is a crash for the next life.
  @Test func `a stop without its last fold does not count as a clean stop`() async throws {
    let world = World()
    let zone = zone
    try await world.run { (engine: Engine) async throws -> Void in
      _ = try await engine.submit([World.registration("_a", 1, token: 0xa1)])
      _ = try await engine.submit([World.zoneSubscription("_a", zone)])
      _ = try await engine.submit([World.change(1, zone)])
      await world.provider.took(1)
      while await engine.health().store.journalTail > 0 { await Task.yield() }
      let full = StoreError(.full, "no room")
      world.store.inject(Array(repeating: .refused(full), count: 99), into: .fold)
    }
    let (next, _) = try await life(MemoryStore(world: world.store.world), change: 2)
    #expect(Self.wakes(next).allSatisfy { $0 > 1 })
  }
}

/// The store's content at one moment while the daemon ran: what a kill then would have left.
private actor Running {
  private(set) var world = MemoryWorld()
  func keep(_ world: MemoryWorld) { self.world = world }
}
