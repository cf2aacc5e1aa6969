import RelayCore
import RelayMemory
import RelayMemoryStore
import Testing

@testable import RelayEngine

/// The wall clock is far ahead when the relay starts, and after restarts. Nothing durable gets a
/// time of this clock before the clock has held for an hour.
@Suite(.timeLimit(.minutes(1))) struct ClockTests {
  private static let years = Span.days(20 * 365)
  private let zone = ZoneID(name: "Notes", owner: UserID("_a"))

  /// Runs a life with the right time, and stops it.
  private func firstLife(_ clock: ShiftedClock) async throws -> MemoryStore {
    let world = World(clock: clock)
    let zone = zone
    try await world.run { (engine: Engine) async throws -> Void in
      _ = try await engine.submit([World.registration("_a", 1, token: 0xa1)])
      _ = try await engine.submit([World.zoneSubscription("_a", zone)])
    }
    return MemoryStore(world: world.store.world)
  }

  private func clockReasons(_ engine: Engine) async -> [String] {
    await engine.health().reasons.filter { $0.contains("clock") }
  }

  private func unstamped(_ number: UInt64) -> Fact {
    guard case .change(var change) = World.change(number, zone) else { return .tick }
    change.time = .zero
    return .change(change)
  }

  @Test func `health reports a doubtful start, and a correction leaves no false time`() async throws
  {
    let clock = ShiftedClock()
    let store = try await firstLife(clock)
    let known = store.world.latest
    clock.setWall(ahead: Self.years)
    let world = World(store, clock: clock)
    let (zone, change) = (zone, unstamped(1))
    try await world.run { (engine: Engine) async throws -> Void in
      let reasons = await clockReasons(engine)
      #expect(reasons.count == 1)
      #expect(reasons.first?.contains("7300 d ahead") == true)
      #expect(reasons.first?.contains("timedatectl") == true)
      _ = try await engine.submit([World.registration("_a", 2, token: 0xa2)])
      #expect(try await engine.submit([change]) == [.accepted])
      await world.provider.took(2)
      // Times that leave the relay are wall-clock times: providers drop a push that has expired.
      for push in world.provider.pushes { #expect(push.expires > clock.wall()) }
      clock.setWall(ahead: .zero)
      #expect(await clockReasons(engine).isEmpty, "the doubt ends with the correction")
    }
    let right = clock.wall()
    #expect(known <= store.world.latest && store.world.latest <= right)
    let rows = store.world.devices { _ in true }
    #expect(rows.count == 2)
    for row in rows { #expect(row.registeredAt <= right) }
    let feed = FeedKey(scope: World.scope, kind: .zone(zone))
    for entry in store.world.visible(in: feed) {
      #expect(known <= entry.life.time && entry.life.time <= right)
    }
    let next = World(MemoryStore(world: store.world))
    try await next.run { (engine: Engine) async throws -> Void in
      #expect(await engine.health().reasons.isEmpty)
    }
  }

  @Test func `the relay follows a clock that holds for an hour and stores its time`()
    async throws
  {
    let clock = ShiftedClock()
    let store = try await firstLife(clock)
    let known = store.world.latest
    clock.setWall(ahead: Self.years)
    let world = World(store, clock: clock)
    try await world.run { (engine: Engine) async throws -> Void in
      clock.pass(.minutes(59))
      #expect(await clockReasons(engine).count == 1)
      clock.pass(.minutes(1))
      #expect(await clockReasons(engine).isEmpty)
      _ = try await engine.submit([World.registration("_a", 2, token: 0xa2)])
    }
    #expect(store.world.latest >= known + Self.years)
    let next = World(MemoryStore(world: store.world), clock: clock)
    try await next.run { (engine: Engine) async throws -> Void in
      #expect(await engine.health().reasons.isEmpty)
    }
  }

  /// A wall clock that jumps ahead is in doubt for an hour. If the daemon's life ends within that
  /// hour, the next start doubts the clock anew, and neither life stores the clock's time.
  @Test func `a life that ends in doubt does not change the durable time`() async throws {
    let clock = ShiftedClock()
    let store = try await firstLife(clock)
    clock.setWall(ahead: Self.years)
    for _ in 0..<2 {
      let world = World(MemoryStore(world: store.world), clock: clock)
      try await world.run { (engine: Engine) async throws -> Void in
        #expect(await clockReasons(engine).count == 1)
      }
      let right = clock.wall() + Span(milliseconds: -Self.years.milliseconds)
      #expect(world.store.world.latest <= right)
    }
  }

  /// The relay stores the time even if nothing changes. So a start after a quiet weekend does not
  /// take the weekend for a long stop.
  @Test func `a quiet relay stores the time, so its next start is not doubted`() async throws {
    let clock = ShiftedClock()
    let world = World(clock: clock)
    try await world.run { (engine: Engine) async throws -> Void in
      for _ in 0..<3 {
        clock.pass(.minutes(50))
        let wall = clock.wall()
        while world.store.world.latest < wall { _ = await engine.health() }
      }
    }
    let crashed = MemoryStore(world: world.store.world)
    clock.pass(.minutes(50))
    try await World(crashed, clock: clock).run { (engine: Engine) async throws -> Void in
      #expect(await engine.health().reasons.isEmpty)
    }
  }

  /// Apple says that an address ended a day before its registration, by the wall clock. The relay's
  /// time is three days behind the wall clock, and the device stays registered.
  @Test func `the relay compares a provider's timestamp in relay time`() async throws {
    let clock = ShiftedClock()
    let store = try await firstLife(clock)
    clock.setWall(ahead: .days(3))
    let world = World(store, clock: clock)
    let zone = zone
    try await world.run { (engine: Engine) async throws -> Void in
      _ = try await engine.submit([World.registration("_a", 1, token: 0xa1)])
      let before = clock.wall() + Span(milliseconds: -Span.days(1).milliseconds)
      world.provider.answer([.gone(at: before, Verdict.Reason("Unregistered"))])
      _ = try await engine.submit([World.change(1, zone)])
      await world.provider.took(2)
    }
    #expect(store.world.devices { _ in true }.allSatisfy { $0.lane.retirement == nil })
  }
}
