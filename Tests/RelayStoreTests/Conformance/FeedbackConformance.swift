import RelayCore
import RelayEngine
import RelayStore
import Testing

/// The feed of feedback keeps its order, has each item once, and is bounded. A reader can see that
/// items are missing.
@Suite struct FeedbackConformance {
  private static let other = Scope(container: "iCloud.com.example.other", environment: .production)

  private func item(_ number: UInt64, in scope: Scope = Bench.scope) -> Feedback {
    Feedback(
      device: DeviceKey(
        scope: scope, user: Bench.owner, client: ClientID(Identifier(high: 3, low: number))),
      address: Address(transport: .apns, topic: "com.example.notes", token: [1, 2]),
      registeredAt: Instant(milliseconds: 5), registration: Ordinal(number),
      at: Instant(milliseconds: Int64(number)),
      news: .retired(reason: "Unregistered", since: nil))
  }

  private func query(
    _ after: UInt64 = 0, limit: Int = 100, _ container: String? = nil,
    _ environment: Environment? = nil
  ) -> FeedbackQuery {
    FeedbackQuery(
      after: FeedbackPosition(after), limit: limit, container: container, environment: environment)
  }

  @Test(arguments: StoreKind.allCases)
  func `feedback items are read in fold order, from any position, by scope`(
    kind: StoreKind
  ) async throws {
    let bench = try await Bench.fresh(kind)
    let empty = try await bench.store.feedback(query())
    #expect(empty == FeedbackPage(items: [], hasMore: false, floor: .zero, head: .zero))
    let items = [item(1), item(2, in: Self.other), item(3), item(4, in: Self.other), item(5)]
    try await bench.fold { $0.feedback = Array(items[..<2]) }
    try await bench.fold { $0.feedback = Array(items[2...]) }
    let all = try await bench.store.feedback(query())
    #expect(all.items.map(\.feedback) == items && !all.hasMore)
    #expect(all.items.map(\.position.number) == [1, 2, 3, 4, 5] && all.head.number == 5)
    let two = try await bench.store.feedback(query(1, limit: 2))
    #expect(two.items.map(\.feedback) == [items[1], items[2]] && two.hasMore)
    #expect(two.next(after: .zero).number == 3)
    for (container, environment) in [
      (Self.other.container, nil), (nil, .production), (Self.other.container, .production),
    ] as [(String?, Environment?)] {
      let own = try await bench.store.feedback(query(0, container, environment))
      #expect(own.items.map(\.feedback) == [items[1], items[3]] && own.head.number == 5)
    }
    let none = try await bench.store.feedback(query(0, Self.other.container, .development))
    #expect(none.items.isEmpty && none.head.number == 5)
    let beyond = try await bench.store.feedback(query(.max))
    #expect(beyond.items.isEmpty && beyond.head.number == 5)
  }

  @Test(arguments: StoreKind.allCases)
  func `a cut that is folded twice adds its feedback items once`(kind: StoreKind) async throws {
    let bench = try await Bench.fresh(kind)
    let cut = bench.cut { $0.feedback = [item(1), item(2)] }
    for _ in 0..<2 { _ = try await bench.store.fold(cut, leases: bench.leases) }
    try await bench.fold { $0.feedback = [item(3)] }
    let page = try await bench.store.feedback(query())
    #expect(page.items.map(\.feedback) == [item(1), item(2), item(3)])
    #expect(page.items.map(\.position) == page.items.map(\.position).sorted())
  }

  @Test(arguments: StoreKind.allCases)
  func `a crash loses no feedback item and no reader's position`(kind: StoreKind) async throws {
    let bench = try await Bench.fresh(kind)
    try await bench.fold { $0.feedback = [item(1), item(2)] }
    try await bench.store.takeFeedback(through: FeedbackPosition(1), in: Bench.scope)
    let before = try await bench.store.feedback(query())
    let again = try await Bench(bench.base.crashed(), era: 900)
    #expect(try await again.store.feedback(query()) == before)
    #expect(try await again.store.feedbackTaken(in: Bench.scope).number == 1)
    try await again.fold { $0.feedback = [item(3)] }
    let after = try await again.store.feedback(query(2))
    #expect(after.items.map(\.feedback) == [item(3)])
  }

  /// Limit: limits.feedbackItems
  @Test(arguments: StoreKind.allCases, [(count: 2, floor: UInt64(0)), (3, 0), (4, 1)])
  func `a scope keeps at most limits.feedbackItems items`(
    kind: StoreKind, items: (count: Int, floor: UInt64)
  ) async throws {
    var limits = Limits()
    limits.feedbackItems = 3
    let bench = try await Bench.fresh(kind, limits)
    for number in 1...items.count {
      try await bench.fold { $0.feedback = [item(UInt64(number))] }
    }
    let page = try await bench.store.feedback(query())
    #expect(page.items.map(\.position.number) == Array(items.floor + 1...UInt64(items.count)))
    #expect(page.floor.number == items.floor)
  }

  @Test(arguments: StoreKind.allCases)
  func `each scope keeps its newest items and reports its own floor`(
    kind: StoreKind
  ) async throws {
    var limits = Limits()
    limits.feedbackItems = 3
    let bench = try await Bench.fresh(kind, limits)
    try await bench.fold { $0.feedback = [item(1, in: Self.other)] }
    for number in 2...6 { try await bench.fold { $0.feedback = [item(UInt64(number))] } }
    let all = try await bench.store.feedback(query())
    #expect(all.items.map(\.position.number) == [1, 4, 5, 6] && all.floor.number == 3)
    let quiet = try await bench.store.feedback(query(0, Self.other.container))
    #expect(quiet.items.count == 1 && quiet.floor == .zero, "the loud feed trims no other")
    try await bench.fold { $0.feedback = (7...11).map { item($0) } }
    let late = try await bench.store.feedback(query(0, Bench.scope.container))
    #expect(late.items.map(\.position.number) == [9, 10, 11] && late.floor.number == 8)
  }

  /// Limit: retention.feedback
  @Test(arguments: StoreKind.allCases)
  func `old items are removed oldest first, and their positions are not reused`(
    kind: StoreKind
  ) async throws {
    var bench = try await Bench.fresh(kind)
    for number in 1...4 {
      bench.at = Instant(milliseconds: Int64(number) * 1_000)
      try await bench.fold { $0.feedback = [item(UInt64(number))] }
    }
    func trim(_ milliseconds: Int64, limit: Int) async throws -> Int {
      try await bench.store.trim(
        tombstones: .zero, notifications: .zero, feedback: Instant(milliseconds: milliseconds),
        limit: limit, leases: bench.leases)
    }
    #expect(try await trim(1_000, limit: 9) == 0)
    #expect(try await trim(3_000, limit: 1) == 1)
    #expect(try await trim(3_000, limit: 9) == 1)
    var page = try await bench.store.feedback(query())
    #expect(page.items.map(\.position.number) == [3, 4] && page.floor.number == 2)
    #expect(try await trim(9_000, limit: 9) == 2)
    page = try await bench.store.feedback(query(1))
    #expect(page.items.isEmpty && page.floor.number == 4 && page.head.number == 4)
    #expect(page.next(after: FeedbackPosition(1)).number == 4)
    try await bench.fold { $0.feedback = [item(9)] }
    #expect(try await bench.store.feedback(query()).items.map(\.position.number) == [5])
  }

  @Test(arguments: StoreKind.allCases)
  func `the taken position only rises and is separate for each scope`(
    kind: StoreKind
  ) async throws {
    let bench = try await Bench.fresh(kind)
    #expect(try await bench.store.feedbackTaken(in: Bench.scope) == .zero)
    for (through, expected) in [(5, 5), (3, 5), (9, 9)] as [(UInt64, UInt64)] {
      try await bench.store.takeFeedback(through: FeedbackPosition(through), in: Bench.scope)
      #expect(try await bench.store.feedbackTaken(in: Bench.scope).number == expected)
    }
    #expect(try await bench.store.feedbackTaken(in: Self.other) == .zero)
  }
}
