import RelayCore
import RelayMemoryStore
import Testing

@testable import RelayEngine

/// Changes on their way to other users are bounded. A change beyond the bound is refused as a
/// whole, and the refusal names the time of the next try (P11).
@Suite(.timeLimit(.minutes(1))) struct ForwardRoomTests {
  enum Bound: CaseIterable {
    case fanOuts, messages

    /// Allows at most three changes on their way to the subscribers. A slice reaches one
    /// subscriber.
    func set(_ settings: inout RelaySettings) {
      settings.drainGrace = .zero
      settings.limits.fanOutSlice = 1
      switch self {
      case .fanOuts: settings.limits.fanOuts = 3
      case .messages: settings.limits.forwardedMessages = 3
      }
    }

    var refusal: Unavailable {
      switch self {
      case .fanOuts: Unavailable.fanOutsFull
      case .messages: Unavailable.forwardsFull
      }
    }
  }

  private static func change(_ number: UInt64) -> Fact {
    .change(
      Change(
        scope: World.scope, database: .public, zone: .publicDefault,
        event: .record(RecordChange(verb: .created, name: "r\(number)", type: "Note")),
        time: Instant(milliseconds: 5), notification: Identifier(high: 9, low: number),
        fingerprint: number))
  }

  private static func subscription(of user: UserID) -> Fact {
    let all = Subscription(
      id: SubscriptionID("q"), database: .public, rule: .query(QueryRule(recordType: "Note")),
      info: NotificationInfo())
    return .modify(
      SubscriptionsRequest(
        scope: World.scope, user: user, database: .public, operations: [.save(all)]))
  }

  /// Two users of one partition, which is not the home of public records.
  private static var subscribers: [UserID] {
    func home(_ user: UserID) -> PartitionID { PartitionID.home(of: user, in: World.scope) }
    let others = (0..<1_000).map { UserID("_u\($0)") }
      .filter { home($0) != home(ZoneID.publicDefault.owner) }
    return Array(others.filter { home($0) == home(others[0]) }.prefix(2))
  }

  @Test(arguments: Bound.allCases)
  func `a change beyond the bound of forwarded changes is refused`(bound: Bound) async throws {
    let world = World { bound.set(&$0) }
    try await world.run { (engine: Engine) async throws -> Void in
      #expect(Self.subscribers.count == 2)
      for user in Self.subscribers { _ = try await engine.submit([Self.subscription(of: user)]) }
      // Messages are delivered after a fold, and the store refuses every fold from now on.
      let full = StoreError(.full, "no room")
      world.store.inject(Array(repeating: .refused(full), count: 10_000), into: .fold)
      for number in UInt64(1)...3 {
        #expect(try await engine.submit([Self.change(number)]) == [.accepted])
      }
      await #expect(throws: bound.refusal) { try await engine.submit([Self.change(4)]) }
      // A change that concerns no other user makes no message to another partition. It is accepted.
      let zone = ZoneID(name: "Notes", owner: UserID("_a"))
      #expect(try await engine.submit([World.change(9, zone)]) == [.accepted])
    }
  }
}
