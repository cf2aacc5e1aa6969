import Foundation
import RelayCore
import RelayEngine
import RelayStore

/// A store whose users all subscribe to articles in the public database. The bench writes the store
/// by `Store.fold`, because HTTP would take hours, and reads the feeds back by `Store.page`.
struct FanOutStore {
  let directory: URL
  let subscribers: Int
  private let scope = Scope.measured
  /// How many users one fold writes.
  private static let piece = 20_000
  private static let readers = 4

  static func user(_ number: Int) -> UserID { UserID("_subscriber\(number)") }

  /// Writes a subscription for each user, in several folds.
  func seed() async throws {
    let store = try SQLiteStore(StoreSettings(directory: directory.path))
    let eras = Dictionary(
      uniqueKeysWithValues: PartitionID.all.map { ($0, UInt64($0.number) + 1) })
    let leases = try await store.claim(eras: eras)
    var ordinals = [Ordinal](repeating: .zero, count: PartitionID.count)
    for first in stride(from: 0, to: subscribers, by: Self.piece) {
      let last = min(first + Self.piece, subscribers)
      _ = try await store.fold(cut(first..<last, &ordinals), leases: leases)
    }
    await store.close()
  }

  private func cut(_ numbers: Range<Int>, _ ordinals: inout [Ordinal]) -> Cut {
    var parts = PartitionID.all.map { PartitionCut(id: $0, cursor: ordinals[Int($0.number)]) }
    for number in numbers {
      let user = Self.user(number)
      let index = Int(PartitionID.home(of: user, in: scope).number)
      ordinals[index] = ordinals[index].next
      parts[index].cursor = ordinals[index]
      parts[index].subscriptions.append(
        SubscriptionRow(
          scope: scope, user: user, serial: Position(ordinals[index]),
          subscription: Subscription(
            silent: "articles", .public, .query(QueryRule(recordType: "Article")))))
    }
    let home = PartitionID.home(of: .publicDefault, .public, in: scope)
    let key = Interest.Key(scope: scope, database: .public, recordType: "Article")
    parts[Int(home.number)].interests = PartitionID.all.map {
      InterestRow(source: $0, interest: Interest(key: key, fields: .named([])))
    }
    return Cut(at: .zero, partitions: parts)
  }

  struct StoreCounts: Sendable {
    /// Notifications that subscribers should have and do not have.
    var lost = 0
    /// Notifications that subscribers have and should not have.
    var excess = 0
  }

  /// Compares the subscribers' notifications feeds with `records`, and counts the differences. The
  /// daemon must have stopped.
  func census(of records: [String]) async throws -> StoreCounts {
    let store = try SQLiteStore(StoreSettings(directory: directory.path))
    let share = (subscribers + Self.readers - 1) / Self.readers
    let census = try await withThrowingTaskGroup(of: StoreCounts.self) { group in
      for first in stride(from: 0, to: subscribers, by: share) {
        let numbers = first..<min(first + share, subscribers)
        group.addTask { try await count(numbers, records, in: store) }
      }
      return try await group.reduce(into: StoreCounts()) {
        $0.lost += $1.lost
        $0.excess += $1.excess
      }
    }
    await store.close()
    return census
  }

  private func count(
    _ numbers: Range<Int>, _ records: [String], in store: SQLiteStore
  ) async throws -> StoreCounts {
    var census = StoreCounts()
    for number in numbers {
      let user = Self.user(number)
      let answer = try await store.page(
        PageQuery(
          feed: FeedKey(scope: scope, kind: .notifications(user)), reader: user, after: nil,
          limit: 200))
      guard case .page(let page) = answer else {
        census.lost += records.count
        continue
      }
      let found = page.entries.compactMap { entry -> String? in
        guard case .notification(_, _, let record) = entry.subject else { return nil }
        return record
      }
      let missing = records.count { !found.contains($0) }
      census.lost += missing
      census.excess += found.count - (records.count - missing)
    }
    return census
  }
}
