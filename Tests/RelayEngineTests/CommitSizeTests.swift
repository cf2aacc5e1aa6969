import RelayMemory
import RelayMemoryStore
import Synchronization
import Testing

@testable import RelayCore
@testable import RelayEngine

/// Commits that a store accepts or refuses by their size in bytes.
@Suite(.timeLimit(.minutes(1))) struct CommitSizeTests {
  private static func zone(_ number: Int) -> ZoneID {
    ZoneID(name: "Notes", owner: UserID("_u\(number)"))
  }

  private static func change(_ number: UInt64, _ zone: ZoneID, bytes: Int) -> Fact {
    let record = RecordChange(
      verb: .created, name: "R\(number)", type: "Note",
      fields: [Field(name: "text", value: .string(String(repeating: "x", count: bytes)))])
    return World.change(number, zone, event: .record(record))
  }

  private static let tooLarge = StoreError(.tooLarge, "a row has more bytes than it may")

  /// A check that accepts groups of at most `bytesMax` bytes, like a store that keeps a group in
  /// one row.
  private static func takes(_ bytesMax: Int) -> @Sendable ([JournalEntry]) -> StoreError? {
    { JournalRow.blob(of: $0).count > bytesMax ? tooLarge : nil }
  }

  /// The engine refuses nothing that the store takes in smaller groups.
  @Test func `the engine splits a group of facts that the store refuses`() async throws {
    let world = World()
    world.store.refuse(Self.takes(20_000))
    try await world.run { (engine: Engine) async throws -> Void in
      let facts = (0..<40).map { Self.change(UInt64($0), Self.zone($0), bytes: 4_000) }
      #expect(try await engine.submit(facts) == Array(repeating: .accepted, count: 40))
      #expect(await engine.health().reasons.isEmpty)
    }
  }

  /// The caller of a request that is too large even alone is refused at once and for good. Requests
  /// of other callers are accepted all the time.
  @Test func `only the request that the store never accepts is refused`() async throws {
    let world = World()
    world.store.refuse(Self.takes(20_000))
    try await world.run { (engine: Engine) async throws -> Void in
      async let other = engine.submit([Self.change(1, Self.zone(1), bytes: 10)])
      await #expect(throws: Unavailable.requestTooLarge) {
        try await engine.submit([Self.change(2, Self.zone(2), bytes: 30_000)])
      }
      #expect(try await other == [.accepted])
      #expect(try await engine.submit([Self.change(3, Self.zone(2), bytes: 10)]) == [.accepted])
      #expect(await engine.health().reasons.isEmpty)
    }
  }

  /// A request's changes of one zone are durable together: no crash leaves a part of them.
  @Test func `the changes of one request in one zone are one commit`() async throws {
    let world = World()
    let groups = Mutex<[Int]>([])
    world.store.refuse { entries in
      groups.withLock {
        $0.append(entries.count { if case .change = $0.fact { true } else { false } })
      }
      return nil
    }
    let count = WorkBounds().commit.facts + 808
    try await world.run { (engine: Engine) async throws -> Void in
      let facts = (0..<count).map { Self.change(UInt64($0), Self.zone(1), bytes: 1) }
      #expect(try await engine.submit(facts) == Array(repeating: .accepted, count: count))
    }
    #expect(groups.withLock { $0.filter { $0 > 0 } } == [count])
  }

  /// Three hundred subscribers of public records and five large changes: all the messages together
  /// are larger than a commit can be. Every subscriber gets every change, also after a restart.
  @Test func `large public changes for many subscribers block no caller`() async throws {
    let world = World()
    let isDivided = Flag()
    world.store.refuse { entries in
      let error = Self.takes(150_000)(entries)
      if error != nil { isDivided.set() }
      return error
    }
    try await world.run { (engine: Engine) async throws -> Void in
      _ = try await engine.submit((0..<300).map { Self.publicSubscription(UserID("_s\($0)")) })
      for number in UInt64(1)...5 {
        #expect(try await engine.submit([Self.publicChange(number, bytes: 100_000)]) == [.accepted])
      }
      #expect(try await engine.submit([World.change(77, Self.zone(1))]) == [.accepted])
    }
    #expect(isDivided.isSet)
    let next = World(MemoryStore(world: world.store.world))
    next.store.refuse(Self.takes(150_000))
    try await next.run { (engine: Engine) async throws -> Void in
      #expect(try await engine.submit([World.change(78, Self.zone(1))]) == [.accepted])
      for number in [0, 299] {
        let feed = FeedKey(
          scope: World.scope, kind: .notifications(UserID("_s\(number)")))
        while await Self.count(of: feed, in: next.store) < 5 {
          try Task.checkCancellation()
          await Task.yield()
        }
      }
      #expect(await engine.health().reasons.isEmpty)
    }
  }

  /// A change that the store refuses even alone is forwarded without the record's values, and is
  /// not tried for ever.
  @Test func `a forwarded change that the store refuses is sent without its values`() async throws {
    let world = World()
    world.store.refuse { entries in
      let isLarge = entries.contains {
        guard case .forwarded = $0.fact else { return false }
        return JournalRow.blob(of: [$0]).count > 5_000
      }
      return isLarge ? Self.tooLarge : nil
    }
    try await world.run { (engine: Engine) async throws -> Void in
      let users = (0..<3).map { UserID("_s\($0)") }
      for user in users { _ = try await engine.submit([Self.publicSubscription(user)]) }
      #expect(try await engine.submit([Self.publicChange(1, bytes: 20_000)]) == [.accepted])
      #expect(try await engine.submit([Self.publicChange(2, bytes: 10)]) == [.accepted])
      for user in users {
        let feed = FeedKey(scope: World.scope, kind: .notifications(user))
        while await Self.count(of: feed, in: world.store) < 2 {
          try Task.checkCancellation()
          await Task.yield()
        }
      }
    }
  }

  private static func count(of feed: FeedKey, in store: MemoryStore) async -> Int {
    store.world.feeds[feed]?.rows.count ?? 0
  }

  /// A public subscription whose notifications carry the record's field `text`.
  private static func publicSubscription(_ user: UserID) -> Fact {
    var info = NotificationInfo()
    info.desiredKeys = ["text"]
    let subscription = Subscription(
      id: SubscriptionID("q"), database: .public, rule: .query(QueryRule(recordType: "Note")),
      info: info)
    return .modify(
      SubscriptionsRequest(
        scope: World.scope, user: user, database: .public, operations: [.save(subscription)]))
  }

  private static func publicChange(_ number: UInt64, bytes: Int) -> Fact {
    guard case .change(var change) = change(number, .publicDefault, bytes: bytes) else {
      fatalError("a change was made")
    }
    change.database = .public
    return .change(change)
  }
}
