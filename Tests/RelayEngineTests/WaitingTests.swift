import RelayCore
import RelayMemory
import RelayStore
import Synchronization
import Testing

@testable import RelayEngine

/// Nobody waits longer for a commit or a fold than a request may, whatever the disk does.
@Suite(.timeLimit(.minutes(1))) struct WaitingTests {
  private let zone = ZoneID(name: "Notes", owner: UserID("_a"))
  private static let full = StoreError(.full, "no room")
  private static let slow = Unavailable(.storeSlow, retryAfterSeconds: 5)

  private var feed: ReadPlace { .feed(FeedKey(scope: World.scope, kind: .zone(zone))) }

  /// The disk is full, and stays so: what is folded is served, the rest is refused at once.
  @Test func `readers of what cannot be folded are refused, all others are served`() async throws {
    let world = World()
    let other = ReadPlace.feed(
      FeedKey(scope: World.scope, kind: .zone(ZoneID(name: "Else", owner: UserID("_a")))))
    let (zone, feed) = (zone, feed)
    try await world.run { (engine: Engine) async throws -> Void in
      world.store.inject(Array(repeating: .refused(Self.full), count: 3), into: .fold)
      #expect(try await engine.submit([World.change(1, zone)]) == [.accepted])
      await #expect(throws: Unavailable(.storeFull, retryAfterSeconds: 5)) {
        try await engine.visible(feed)
      }
      try await engine.visible(other)
      // With room again it is served without a restart.
      while (try? await engine.visible(feed)) == nil { await Task.yield() }
      #expect(await engine.vitals().reasons.isEmpty)
    }
  }

  /// A registration is answered when it is folded. It holds, though its sender was sent away.
  @Test func `answers that wait for a fold are not kept waiting when it is refused`() async throws {
    let world = World()
    try await world.run { (engine: Engine) async throws -> Void in
      world.store.inject(Array(repeating: .refused(Self.full), count: 2), into: .fold)
      let registration = World.registration("_a", 1, token: 0xa1)
      await #expect(throws: Unavailable(.storeFull, retryAfterSeconds: 5)) {
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
  @Test func `a fold that takes too long sends its waiters away in time`() async throws {
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
      while await engine.vitals().store.journalTail < 2 {}
      clock.pass(.seconds(21))
      let refusals = await [read, registered]
      #expect(refusals == [Self.slow, Self.slow])
      front.release()
      try await engine.visible(feed)
    }
    #expect(world.store.world.devices { _ in true }.count == 1, "it was taken all the same")
  }

  @Test func `a commit that takes too long sends its senders away in time`() async throws {
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

/// A store whose calls of one kind can be made to wait.
private final class HeldStore: Store {
  private struct State {
    var held: MemoryStore.Call?
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let store: MemoryStore
  private let state = Mutex(State())

  init(_ store: MemoryStore) { self.store = store }

  func hold(_ call: MemoryStore.Call) { state.withLock { $0.held = call } }
  var held: Int { state.withLock { $0.waiters.count } }

  func release() {
    let waiters = state.withLock { state in
      state.held = nil
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  private func pass(_ call: MemoryStore.Call) async {
    await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
      let isHeld = state.withLock { state in
        guard state.held == call else { return false }
        state.waiters.append(waiter)
        return true
      }
      if !isHeld { waiter.resume() }
    }
  }

  func append(_ entries: [JournalEntry], leases: [Lease]) async throws(StoreError) {
    await pass(.append)
    try await store.append(entries, leases: leases)
  }

  func fold(_ cut: Cut, leases: [Lease]) async throws(StoreError) -> [OutboxRow] {
    await pass(.fold)
    return try await store.fold(cut, leases: leases)
  }

  func claim(eras: [PartitionID: UInt64]) async throws(StoreError) -> [Lease] {
    try await store.claim(eras: eras)
  }
  func load(_ lease: Lease) async throws(StoreError) -> PartitionTables {
    try await store.load(lease)
  }
  func journal(
    after place: JournalPlace?, beyond cursors: [PartitionID: Ordinal], limit: Int
  ) async throws(StoreError) -> JournalPart {
    try await store.journal(after: place, beyond: cursors, limit: limit)
  }
  func latestInstant() async throws(StoreError) -> Instant { try await store.latestInstant() }
  func trim(
    tombstones: Instant, notifications: Instant, feedback: Instant, limit: Int, leases: [Lease]
  ) async throws(StoreError) -> Int {
    try await store.trim(
      tombstones: tombstones, notifications: notifications, feedback: feedback, limit: limit,
      leases: leases)
  }
  func vitals() async throws(StoreError) -> StoreVitals { try await store.vitals() }
  func close() async { await store.close() }
  func page(_ query: PageQuery) async throws(StoreError) -> PageAnswer {
    try await store.page(query)
  }
  func zones(
    of user: UserID, _ database: Database, in scope: Scope, after zone: ZoneID?, limit: Int
  ) async throws(StoreError) -> [ZoneDigest] {
    try await store.zones(of: user, database, in: scope, after: zone, limit: limit)
  }
  func head(of feed: FeedKey) async throws(StoreError) -> Place { try await store.head(of: feed) }
  func isNearlyFull(_ feed: FeedKey) -> Bool { store.isNearlyFull(feed) }
  func holdings(
    of feed: FeedKey, among subjects: Set<Subject>
  ) async throws(StoreError) -> Holdings {
    try await store.holdings(of: feed, among: subjects)
  }
  func subscriptions(
    of user: UserID, _ database: Database, in scope: Scope, after serial: Position, limit: Int
  ) async throws(StoreError) -> [SubscriptionRow] {
    try await store.subscriptions(of: user, database, in: scope, after: serial, limit: limit)
  }
  func subscriptions(
    named ids: [SubscriptionID], of user: UserID, _ database: Database, in scope: Scope
  ) async throws(StoreError) -> [Subscription] {
    try await store.subscriptions(named: ids, of: user, database, in: scope)
  }
  func devices(of user: UserID?, in scope: Scope?, limit: Int) async throws(StoreError)
    -> [DeviceRow]
  { try await store.devices(of: user, in: scope, limit: limit) }
  func devices(client: ClientID) async throws(StoreError) -> [DeviceRow] {
    try await store.devices(client: client)
  }
  func feedback(_ query: FeedbackQuery) async throws(StoreError) -> FeedbackPage {
    try await store.feedback(query)
  }
  func feedbackTaken(in scope: Scope) async throws(StoreError) -> FeedbackPosition {
    try await store.feedbackTaken(in: scope)
  }
  func takeFeedback(
    through position: FeedbackPosition, in scope: Scope
  ) async throws(StoreError) {
    try await store.takeFeedback(through: position, in: scope)
  }
}
