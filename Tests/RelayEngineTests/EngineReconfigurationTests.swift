import RelayCore
import Synchronization
import Testing

@testable import RelayEngine

/// A reload while the engine works.
@Suite struct EngineReconfigurationTests {
  private let zone = ZoneID(name: "Notes", owner: UserID("_a"))

  private func prepare(_ engine: Engine) async throws {
    _ = try await engine.submit([World.registration("_a", 1, token: 0xa1)])
    _ = try await engine.submit([World.zoneSubscription("_a", zone)])
  }

  private func settings(_ change: (inout RelaySettings) -> Void = { _ in }) -> RelaySettings {
    var settings = RelaySettings()
    settings.policy.window = .zero
    settings.drainGrace = .seconds(1)
    change(&settings)
    return settings
  }

  /// If a lane waits because the old budget is spent, a reload evaluates the lane again.
  @Test(.timeLimit(.minutes(1)))
  func `a larger budget holds at once, also for lanes that already wait`() async throws {
    let world = World { $0.policy.background.max = 1 }
    try await world.run { (engine: Engine) async throws -> Void in
      try await self.prepare(engine)
      _ = try await engine.submit([World.change(1, self.zone)])
      await world.provider.took(1)
      _ = try await engine.submit([World.change(2, self.zone, record: "B")])
      try await engine.visible(.feed(FeedKey(scope: World.scope, kind: .zone(self.zone))))
      #expect(world.provider.pushes.count == 1)
      await engine.reconfigure(
        EngineReconfiguration(settings: self.settings { $0.policy.background.max = 2 }))
      await world.provider.took(2)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `an ended route sends nothing and is healthy until it is configured again`() async throws {
    let world = World()
    let next = WorkingProvider()
    try await world.run { (engine: Engine) async throws -> Void in
      try await self.prepare(engine)
      _ = try await engine.submit([World.change(1, self.zone)])
      await world.provider.took(1)
      await engine.reconfigure(
        EngineReconfiguration(settings: self.settings(), ended: [World.route]))
      _ = try await engine.submit([World.change(2, self.zone, record: "B")])
      try await engine.visible(.feed(FeedKey(scope: World.scope, kind: .zone(self.zone))))
      let health = await engine.health()
      #expect(health.routes == [])
      #expect(health.withdrawnRoutes.map(\.sent) == [1])
      #expect(health.reasons == [])
      #expect(health.ledger.pending == 1)
      #expect(world.provider.pushes.count == 1)
      await engine.reconfigure(
        EngineReconfiguration(settings: self.settings(), started: [World.route: next]))
      await next.took(1)
      #expect(world.provider.pushes.count == 1)
      let later = await engine.health()
      #expect(later.routes.map(\.sent) == [2] && later.withdrawnRoutes == [])
    }
  }

  /// One stored device has no route in the engine, as after a restart with fewer routes.
  @Test(.timeLimit(.minutes(1)))
  func `a route without a provider waits and is healthy, until it is configured`() async throws {
    let world = World { $0.policy.retryFirst = Span(milliseconds: 10) }
    let next = WorkingProvider()
    let gone = RouteKey(scope: World.scope, transport: .apns, topic: "com.example.gone")
    try await world.run { (engine: Engine) async throws -> Void in
      try await self.prepare(engine)
      let registration = Registration(
        scope: World.scope, user: UserID("_a"), client: World.client(2),
        address: Address(transport: .apns, topic: gone.topic, token: [0xa2]))
      _ = try await engine.submit([.register(registration)])
      _ = try await engine.submit([World.change(1, self.zone)])
      await world.provider.took(1)
      for _ in 0..<20 {
        let health = await engine.health()
        #expect(health.reasons == [])
        await Task.yield()
      }
      #expect(await engine.health().routes.map(\.key) == [World.route])
      await engine.reconfigure(
        EngineReconfiguration(settings: self.settings(), started: [gone: next]))
      await next.took(1)
      #expect(next.pushes.map(\.address.token) == [[0xa2]])
    }
  }

  /// Operators see a route before its first push, and no route that has ended.
  @Test(.timeLimit(.minutes(1)))
  func `health shows the routes that are configured`() async throws {
    let other = RouteKey(scope: World.scope, transport: .apns, topic: "com.example.other")
    try await World().run { (engine: Engine) async throws -> Void in
      let first = try #require(await engine.health().routes.first)
      #expect(first.key == World.route && first.circuit == "closed")
      #expect(first.sent == 0 && first.delivered == 0 && first.inFlight == 0)
      #expect(first.lastError == nil && first.sender.connections == 1)
      await engine.reconfigure(
        EngineReconfiguration(settings: self.settings(), started: [other: WorkingProvider()]))
      #expect(await engine.health().routes.map(\.key) == [World.route, other])
      await engine.reconfigure(
        EngineReconfiguration(settings: self.settings(), ended: [World.route]))
      #expect(await engine.health().routes.map(\.key) == [other])
    }
  }

  /// The next probe would come in half a minute, but with a new credential the relay pushes over
  /// the route without waiting for the probe.
  @Test(.timeLimit(.minutes(1)))
  func `another credential opens a stopped route at once`() async throws {
    let world = World()
    let next = WorkingProvider()
    world.provider.answer([.later(after: nil, .route, .init("InvalidProviderToken"))])
    try await world.run { (engine: Engine) async throws -> Void in
      try await self.prepare(engine)
      _ = try await engine.submit([World.change(1, self.zone)])
      while await engine.health().reasons.isEmpty { try Task.checkCancellation() }
      await engine.reconfigure(
        EngineReconfiguration(settings: self.settings(), started: [World.route: next]))
      await next.took(1)
      while await !engine.health().reasons.isEmpty { try Task.checkCancellation() }
    }
  }

  /// A sender whose `run` ends only when the engine cancels it.
  private final class StayingProvider: PushSender {
    private let state = Mutex((isRunning: false, hasLeft: false))
    var isRunning: Bool { state.withLock { $0.isRunning } }
    var hasLeft: Bool { state.withLock { $0.hasLeft } }

    var health: SenderHealth {
      var health = SenderHealth()
      (health.connections, health.opened, health.unanswered) = (hasLeft ? 0 : 1, 3, 1)
      return health
    }

    func send(
      _ push: Push, _ handover: Handover, answer: @escaping @Sendable (Verdict) -> Void
    ) { answer(.delivered) }

    func run() async {
      state.withLock { $0.isRunning = true }
      for await _ in AsyncStream<Never>.makeStream().stream {}
      state.withLock { $0.hasLeft = true }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a sender runs from its start until another sender replaces it`() async {
    let senderGroup = SenderGroup()
    let (first, second, other) = (StayingProvider(), StayingProvider(), StayingProvider())
    let elsewhere = RouteKey(scope: World.scope, transport: .apns, topic: "other")
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await senderGroup.run() }
      senderGroup.start(first, on: World.route)
      senderGroup.start(other, on: elsewhere)
      while !first.isRunning || !other.isRunning { await Task.yield() }
      senderGroup.start(second, on: World.route)
      while !first.hasLeft || !second.isRunning { await Task.yield() }
      #expect(!other.hasLeft)
      senderGroup.dismiss(from: World.route)
      while !second.hasLeft { await Task.yield() }
      #expect(!other.hasLeft)
      group.cancelAll()
    }
    #expect(other.hasLeft)
  }

  @Test(.timeLimit(.minutes(1)))
  func `a route's counters include the senders that it has had`() async {
    let senderGroup = SenderGroup()
    let (first, second) = (StayingProvider(), StayingProvider())
    let health = { senderGroup.health[World.route] ?? SenderHealth() }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await senderGroup.run() }
      senderGroup.start(first, on: World.route)
      while !first.isRunning { await Task.yield() }
      senderGroup.start(second, on: World.route)
      #expect(health().opened == 6)
      while health().connections > 1 { await Task.yield() }
      #expect(health().opened == 6)
      senderGroup.dismiss(from: World.route)
      while health().connections > 0 { await Task.yield() }
      #expect(health().opened == 6 && health().unanswered == 2)
      #expect(senderGroup.health.count == 1)
      group.cancelAll()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `after the engine's end a reload does nothing and returns at once`() async throws {
    let world = World()
    try await world.run { _ in }
    await world.engine.reconfigure(EngineReconfiguration(settings: settings()))
  }
}
