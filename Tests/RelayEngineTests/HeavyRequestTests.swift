import RelayCore
import RelayMemory
import RelayMemoryStore
import Testing

@testable import RelayEngine

/// One request has many changes for one user with many subscriptions. Other users' requests are
/// answered meanwhile, and no reader sees a part of that request.
@Suite(.timeLimit(.minutes(4))) struct HeavyRequestTests {
  private static let changes = 400
  private static let subscriptions = 1_000

  private static func zone(_ user: String) -> ZoneID {
    ZoneID(name: "Notes", owner: UserID(user))
  }

  /// Two users of different partitions.
  private static let (heavy, other) = ("_heavy", "_other")

  /// Saves subscriptions that do not fire and whose filters are all checked.
  private static func save(_ engine: Engine) async throws {
    for start in stride(from: 0, to: subscriptions, by: 200) {
      let operations = (start..<start + 200).map { number in
        let filters = (0..<4).map { filter in
          QueryRule.Filter(
            field: "name", comparator: filter == 3 ? .equals : .notEquals,
            value: .string("\(number) \(filter)"))
        }
        return SubscriptionsRequest.Operation.save(
          Subscription(
            id: SubscriptionID("s\(number)"), database: .private,
            rule: .query(QueryRule(recordType: "Note", filters: filters)),
            info: NotificationInfo()))
      }
      _ = try await engine.submit([
        .modify(
          SubscriptionsRequest(
            scope: World.scope, user: UserID(heavy), database: .private, operations: operations))
      ])
    }
  }

  private static func request() -> [Fact] {
    (0..<changes).map { number in
      let record = RecordChange(
        verb: .created, name: "R\(number)", type: "Note",
        fields: [Field(name: "name", value: .string("none"))])
      return World.change(UInt64(number + 10), zone(heavy), event: .record(record))
    }
  }

  /// The daemon's loop has its own thread: commits and folds must not wait for that thread.
  @Test(arguments: [nil, LoopThread()])
  func `other users' requests are answered while a large request is stepped`(thread: LoopThread?)
    async throws
  {
    let homes = [Self.heavy, Self.other].map {
      PartitionID.home(of: UserID($0), in: World.scope)
    }
    try #require(homes[0] != homes[1])
    // The test is about the order of answers, and a busy machine may need long.
    let world = World { $0.answerWithin = .seconds(200) }
    let isThere = Flag()
    world.store.refuse { entries in
      if entries.count >= Self.changes { isThere.set() }
      return nil
    }
    let feed = FeedKey(scope: World.scope, kind: .zone(Self.zone(Self.heavy)))
    let store = world.store
    try await world.run(on: thread) { (engine: Engine) async throws -> Void in
      try await Self.save(engine)
      let isAnswered = Flag()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          let answers = try await engine.submit(Self.request())
          isAnswered.set()
          #expect(answers == Array(repeating: .accepted, count: Self.changes))
        }
        while !isThere.isSet { await Task.yield() }
        // The large request is in the journal before these changes, and is answered after them.
        for number in UInt64(1)...3 {
          #expect(
            try await engine.submit([World.change(number, Self.zone(Self.other))]) == [.accepted])
          try await engine.visible(
            .feed(FeedKey(scope: World.scope, kind: .zone(Self.zone(Self.other)))))
          #expect(!isAnswered.isSet)
          #expect(store.world.feeds[feed]?.rows.isEmpty != false)
        }
        try await group.waitForAll()
      }
      try await engine.visible(.feed(feed))
      #expect(store.world.feeds[feed]?.rows.count == Self.changes)
      #expect(await engine.health().store.journalTail == 0)
    }
  }
}
