import RelayCore
import RelayMemoryStore
import Synchronization

@testable import RelayEngine

/// A store whose calls of one kind can be held. It counts the readings of its journal, and records
/// the partitions of each fold and the result of each trim.
final class HeldStore: Store {
  private struct State {
    var held: MemoryStore.Call?
    var waiters: [CheckedContinuation<Void, Never>] = []
    var journalReads = 0
    var cuts: [Set<PartitionID>] = []
    var trims: [Int] = []
  }

  private let store: MemoryStore
  private let state = Mutex(State())

  init(_ store: MemoryStore) { self.store = store }

  func hold(_ call: MemoryStore.Call) { state.withLock { $0.held = call } }
  var held: Int { state.withLock { $0.waiters.count } }
  var journalReads: Int { state.withLock { $0.journalReads } }

  /// For each fold, the partitions that bring entries into feeds.
  var cuts: [Set<PartitionID>] { state.withLock { $0.cuts } }

  /// What each trim returned.
  var trims: [Int] { state.withLock { $0.trims } }

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
    let partitions = cut.partitions.filter { !$0.feeds.isEmpty }.map(\.id)
    state.withLock { $0.cuts.append(Set(partitions)) }
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
    state.withLock { $0.journalReads += 1 }
    return try await store.journal(after: place, beyond: cursors, limit: limit)
  }
  func trim(
    tombstones: Instant, notifications: Instant, feedback: Instant, limit: Int, leases: [Lease]
  ) async throws(StoreError) -> Int {
    let count = try await store.trim(
      tombstones: tombstones, notifications: notifications, feedback: feedback, limit: limit,
      leases: leases)
    state.withLock { $0.trims.append(count) }
    return count
  }
  func health() async throws(StoreError) -> StoreUsage { try await store.health() }
  func close() async { await store.close() }
  func page(_ query: PageQuery) async throws(StoreError) -> PageAnswer {
    try await store.page(query)
  }
  func zones(
    of user: UserID, _ database: Database, in scope: Scope, after zone: ZoneID?, limit: Int
  ) async throws(StoreError) -> [ZoneDigest] {
    try await store.zones(of: user, database, in: scope, after: zone, limit: limit)
  }
  func head(of feed: FeedKey) async throws(StoreError) -> FeedCursor {
    try await store.head(of: feed)
  }
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
  func devices(
    of user: UserID, in scope: Scope, after client: ClientID?, limit: Int
  ) async throws(StoreError) -> [DeviceRow] {
    try await store.devices(of: user, in: scope, after: client, limit: limit)
  }
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
