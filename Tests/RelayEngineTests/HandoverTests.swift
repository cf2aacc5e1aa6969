import RelayCore
import Synchronization
import Testing

@testable import RelayEngine

/// P9: after the answer to a change that ends a user's access to a zone, no push of an earlier
/// change of that zone leaves for the user.
@Suite(.timeLimit(.minutes(1))) struct HandoverTests {
  private static let zone = ZoneID(name: "Z", owner: UserID("_a"))

  @Test func `a push that waits is taken back at once`() {
    let handover = Handover()
    #expect(handover.takeBack { Issue.record("nothing was leaving") })
    #expect(!handover.begin() && handover.isTakenBack)
  }

  @Test func `a push that is leaving reports when it has left`() {
    let handover = Handover()
    let said = Mutex(0)
    #expect(handover.begin())
    for _ in 0..<2 { #expect(!handover.takeBack { said.withLock { $0 += 1 } }) }
    #expect(said.withLock { $0 } == 0)
    handover.written()
    #expect(said.withLock { $0 } == 2)
    handover.ended()
    #expect(said.withLock { $0 } == 2 && !handover.begin(), "and is not sent again")
  }

  @Test func `a push that has left may be sent again unless it is taken back`() {
    let handover = Handover()
    #expect(handover.begin())
    handover.written()
    handover.returned()
    #expect(handover.begin())
    handover.written()
    #expect(handover.takeBack { Issue.record("it has left") })
    handover.returned()
    #expect(!handover.begin())
  }

  /// Runs `body` while a push for the owner's one device waits at its provider.
  private func held(
    _ body: @escaping @Sendable (Engine, HoldingProvider) async throws -> Void
  ) async throws {
    let provider = HoldingProvider()
    let world = World(sender: provider)
    try await world.run { engine in
      _ = try await engine.submit([World.registration("_a", 1, token: 1)])
      _ = try await engine.submit([World.zoneSubscription("_a", Self.zone)])
      _ = try await engine.submit([World.change(1, Self.zone)])
      await provider.holds(1)
      try await body(engine, provider)
      provider.release()
    }
  }

  @Test func `a zone deletion is answered when waiting pushes can no longer leave`() async throws {
    try await held { engine, provider in
      let answers = try await engine.submit([
        World.change(2, Self.zone, event: .zone(.deleted))
      ])
      #expect(answers == [.accepted])
      #expect(provider.handovers.map { $0.begin() } == [false])
    }
  }

  @Test func `a zone deletion is answered after a push that is leaving has left`() async throws {
    try await held { engine, provider in
      let handover = provider.handovers[0]
      #expect(handover.begin())
      let isAnswered = Flag()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          _ = try await engine.submit([World.change(2, Self.zone, event: .zone(.deleted))])
          isAnswered.set()
        }
        while !handover.isTakenBack { await Task.yield() }
        // All other requests meanwhile are stepped, folded and answered.
        for number: UInt8 in 0..<3 {
          _ = try await engine.submit([World.registration("_b", 2, token: 2 + number)])
        }
        #expect(!isAnswered.isSet, "its bytes are still leaving")
        handover.written()
        try await group.waitForAll()
      }
      #expect(isAnswered.isSet)
    }
  }

  @Test func `a revocation waits for pushes of another partition`() async throws {
    let provider = HoldingProvider()
    let world = World(sender: provider)
    try await world.run { engine in
      let reader = UserID("_reader")
      _ = try await engine.submit([World.registration("_reader", 1, token: 1)])
      let subscription = Subscription(
        id: SubscriptionID("db"), database: .shared, rule: .database(recordType: nil),
        info: NotificationInfo())
      _ = try await engine.submit([
        .modify(
          SubscriptionsRequest(
            scope: World.scope, user: reader, database: .shared,
            operations: [.save(subscription)]))
      ])
      _ = try await engine.submit([World.change(1, Self.zone, event: .granted(reader))])
      await provider.holds(1)
      _ = try await engine.submit([World.change(2, Self.zone, event: .revoked(reader))])
      #expect(provider.handovers.map { $0.begin() } == [false])
      provider.release()
    }
  }

  @Test func `a verdict for the push ends the wait of a zone purge`() async throws {
    try await held { engine, provider in
      #expect(provider.handovers[0].begin())
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          _ = try await engine.submit([World.change(2, Self.zone, event: .zone(.purged))])
        }
        while !provider.handovers[0].isTakenBack { await Task.yield() }
        // The provider gives its verdict, so the push has left or will never leave.
        provider.release()
        try await group.waitForAll()
      }
    }
  }
}

/// Keeps every push until the test releases it.
private final class HoldingProvider: PushSender {
  private struct State {
    var held: [(handover: Handover, answer: @Sendable (Verdict) -> Void)] = []
    var isReleased = false
    var waiters: [(count: Int, waiter: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var health: SenderHealth { SenderHealth() }
  var handovers: [Handover] { state.withLock { $0.held.map(\.handover) } }

  func send(
    _ push: Push, _ handover: Handover, answer: @escaping @Sendable (Verdict) -> Void
  ) {
    let (isReleased, due): (Bool, [CheckedContinuation<Void, Never>]) = state.withLock { state in
      if state.isReleased { return (true, []) }
      state.held.append((handover, answer))
      let due = state.waiters.filter { $0.count <= state.held.count }.map(\.waiter)
      state.waiters.removeAll { $0.count <= state.held.count }
      return (false, due)
    }
    if isReleased { answer(.delivered) }
    for waiter in due { waiter.resume() }
  }

  func run() async {}

  /// Returns when the provider holds `count` pushes.
  func holds(_ count: Int) async {
    await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
      let isThere = state.withLock { state in
        if state.held.count >= count { return true }
        state.waiters.append((count, waiter))
        return false
      }
      if isThere { waiter.resume() }
    }
  }

  /// From now on the provider delivers every push.
  func release() {
    let held = state.withLock { state in
      state.isReleased = true
      defer { state.held = [] }
      return state.held
    }
    for push in held { push.answer(.delivered) }
  }
}
