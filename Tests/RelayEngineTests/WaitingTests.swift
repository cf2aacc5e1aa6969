import RelayCore
import RelayMemory
import RelayMemoryStore
import Testing

@testable import RelayEngine

/// No request waits for a commit or a fold beyond its deadline, whatever the disk does.
@Suite(.timeLimit(.minutes(1))) struct WaitingTests {
  private let zone = ZoneID(name: "Notes", owner: UserID("_a"))
  private static let full = StoreError(.full, "no room")
  private static let slow = Unavailable.storeSlow

  private var feed: ReadTarget { .feed(FeedKey(scope: World.scope, kind: .zone(zone))) }

  /// While the disk is full, readers of a feed that waits for a fold are refused at once, and other
  /// readers are served.
  @Test func `readers of places that cannot be folded are refused, others are served`() async throws
  {
    let world = World()
    let other = ReadTarget.feed(
      FeedKey(scope: World.scope, kind: .zone(ZoneID(name: "Else", owner: UserID("_a")))))
    let (zone, feed) = (zone, feed)
    try await world.run { (engine: Engine) async throws -> Void in
      world.store.inject(Array(repeating: .refused(Self.full), count: 2), into: .fold)
      #expect(try await engine.submit([World.change(1, zone)]) == [.accepted])
      await #expect(throws: Unavailable.storeFull) {
        try await engine.visible(feed)
      }
      try await engine.visible(other)
      // When the disk has room again, readers of the feed are served without a restart.
      while (try? await engine.visible(feed)) == nil { await Task.yield() }
      #expect(await engine.health().reasons.isEmpty)
    }
  }

  /// A registration is answered when it is folded. The registration holds, though its caller got a
  /// refusal.
  @Test func `a refused fold refuses the requests that wait for it at once`() async throws {
    let world = World()
    try await world.run { (engine: Engine) async throws -> Void in
      // Perhaps the registration is only in the second fold, so the store refuses two.
      world.store.inject(Array(repeating: .refused(Self.full), count: 2), into: .fold)
      let registration = World.registration("_a", 1, token: 0xa1)
      await #expect(throws: Unavailable.storeFull) {
        try await engine.submit([registration])
      }
      #expect(try await Self.repeated(engine, registration) == [.registered(World.client(1))])
    }
    #expect(world.store.world.devices { _ in true }.count == 1)
  }

  private static func refusal<Value>(_ ask: () async throws -> Value) async -> Unavailable? {
    do {
      _ = try await ask()
      return nil
    } catch {
      return error as? Unavailable
    }
  }

  private static func repeated(_ engine: Engine, _ fact: Fact) async throws -> [Answer] {
    while true {
      do throws(Unavailable) {
        return try await engine.submit([fact])
      } catch {
        try Task.checkCancellation()
      }
    }
  }

  /// The fold neither fails nor ends.
  @Test func `requests that wait for a slow fold are refused at their deadline`() async throws {
    let (clock, store) = (ShiftedClock(), MemoryStore())
    let front = HeldStore(store)
    let world = World(store, clock: clock, front: front)
    let (zone, feed) = (zone, feed)
    try await world.run { (engine: Engine) async throws -> Void in
      front.hold(.fold)
      #expect(try await engine.submit([World.change(1, zone)]) == [.accepted])
      async let read = Self.refusal { try await engine.visible(feed) }
      async let registered = Self.refusal {
        try await engine.submit([World.registration("_a", 1, token: 0xa1)])
      }
      while engine.waiting < 1 || front.held < 1 { await Task.yield() }
      while await engine.health().store.journalTail < 2 {}
      clock.pass(.seconds(21))
      let refusals = await [read, registered]
      #expect(refusals == [Self.slow, Self.slow])
      front.release()
      try await engine.visible(feed)
    }
    #expect(world.store.world.devices { _ in true }.count == 1, "it was taken all the same")
  }

  /// The reader's request has waited before, so the reader's deadline is earlier than that of a new
  /// request.
  @Test func `a reader with an earlier deadline is refused earlier`() async throws {
    let (clock, store) = (ShiftedClock(), MemoryStore())
    let front = HeldStore(store)
    let world = World(store, clock: clock, front: front) { $0.answerWithin = .minutes(5) }
    let (zone, feed) = (zone, feed)
    try await world.run { (engine: Engine) async throws -> Void in
      front.hold(.fold)
      #expect(try await engine.submit([World.change(1, zone)]) == [.accepted])
      let until = clock.boot() + .seconds(10)
      async let read = Self.refusal { try await engine.visible([feed], until: until) }
      while engine.waiting < 1 || front.held < 1 { await Task.yield() }
      clock.pass(.seconds(11))
      #expect(await read == Self.slow)
      front.release()
      try await engine.visible(feed)
    }
  }

  @Test func `requests that wait for a slow commit are refused at their deadline`() async throws {
    let (clock, store) = (ShiftedClock(), MemoryStore())
    let front = HeldStore(store)
    let world = World(store, clock: clock, front: front)
    let zone = zone
    try await world.run { (engine: Engine) async throws -> Void in
      front.hold(.append)
      async let taken = Self.refusal { try await engine.submit([World.change(1, zone)]) }
      while front.held < 1 { await Task.yield() }
      clock.pass(.seconds(21))
      let refusal = await taken
      #expect(refusal == Self.slow)
      front.release()
      #expect(try await engine.submit([World.change(1, zone)]) == [.duplicate])
    }
  }
}
