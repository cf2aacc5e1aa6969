import RelayCore
import RelayMemoryStore
import Testing

@testable import RelayEngine

/// A change without room for its messages to other users is refused before it is journalled.
@Suite(.timeLimit(.minutes(1))) struct AdmissionTests {
  private static func subscription(of user: UserID) -> Fact {
    let subscription = Subscription(
      id: SubscriptionID("q"), database: .public, rule: .query(QueryRule(recordType: "Note")),
      info: NotificationInfo())
    return .modify(
      SubscriptionsRequest(
        scope: World.scope, user: user, database: .public, operations: [.save(subscription)]))
  }

  private static func publicChange(_ number: UInt64) -> Fact {
    guard case .change(var change) = World.change(number, .publicDefault) else {
      fatalError("a change was made")
    }
    change.database = .public
    return .change(change)
  }

  /// Two users of one partition. With slices of one user, a change for both is a fan-out.
  private static var neighbours: [UserID] {
    let all = (0..<200).map { UserID("_s\($0)") }
    let homes = Dictionary(grouping: all) { PartitionID.home(of: $0, in: World.scope) }
    return Array((homes.values.first { $0.count > 1 } ?? []).prefix(2))
  }

  @Test(arguments: [
    (fanOuts: 1, messages: 100, cause: Unavailable.fanOutsFull), (100, 1, .forwardsFull),
  ])
  func `a change beyond the bound is refused before it is journalled`(
    fanOuts: Int, messages: Int, cause: Unavailable
  ) async throws {
    let store = MemoryStore()
    let front = HeldStore(store)
    let world = World(store, front: front) {
      $0.limits.fanOuts = fanOuts
      $0.limits.fanOutSlice = 1
      $0.limits.forwardedMessages = messages
    }
    try await world.run { (engine: Engine) async throws -> Void in
      for user in Self.neighbours { _ = try await engine.submit([Self.subscription(of: user)]) }
      front.hold(.append)
      async let first = engine.submit([Self.publicChange(1)])
      while front.held < 1 { await Task.yield() }
      await #expect(throws: cause) {
        try await engine.submit([Self.publicChange(2)])
      }
      // A change of a private zone concerns its owner only, and is accepted.
      async let own = engine.submit([
        World.change(3, ZoneID(name: "Notes", owner: UserID("_a")))
      ])
      front.release()
      #expect(try await first == [.accepted])
      #expect(try await own == [.accepted])
      while (try? await engine.submit([Self.publicChange(2)])) == nil { await Task.yield() }
    }
  }
}
