import RelayCore
import RelayEngine
import RelayStore

/// Starts a store on damaged files: the store either reads the files, or refuses them with an
/// error.
enum DamagedStore {
  /// - Returns: whether `look` ended without an error; nil if there is no room for files.
  static func start(
    _ bytes: [UInt8], _ look: @escaping @Sendable (SQLiteStore) async throws -> Void
  ) -> Bool? {
    // A full disk is no defect of the parser.
    guard let seed = StoreSeed.made, let home = try? StoreDirectory() else { return nil }
    defer { home.remove() }
    let files = seed.damaged(by: bytes)
    guard (try? home.fill(relay: files.relay, journal: files.journal)) != nil else { return nil }
    return Waiting.value {
      // Other tests check the reason of a refusal.
      guard let store = try? SQLiteStore(home.settings) else { return false }
      let isRead = (try? await look(store)) != nil
      await store.close()
      return isRead
    }
  }

  /// Claims and loads all partitions and reads their journals, as a daemon does when it starts.
  /// Then makes some of the reads that HTTP requests make, and trims.
  static func read(_ store: SQLiteStore) async throws {
    let leases = try await claim(store)
    var tables: [PartitionTables] = []
    for lease in leases { tables.append(try await store.load(lease)) }
    _ = try await journal(store, beyond: tables)
    _ = try await store.feedback(FeedbackQuery(after: .zero, limit: 10))
    let user = UserID("_a")
    let zone = ZoneID(name: "Z", owner: user)
    for kind in [FeedKey.Kind.notifications(user), .database(user, .private), .zone(zone)] {
      let feed = FeedKey(scope: FuzzedParser.scope, kind: kind)
      _ = try await store.page(PageQuery(feed: feed, reader: user, after: nil, limit: 10))
    }
    _ = try await store.zones(
      of: user, .private, in: FuzzedParser.scope, after: nil, limit: 10)
    _ = try await store.subscriptions(
      of: user, .private, in: FuzzedParser.scope, after: .zero, limit: 10)
    _ = try await store.devices(of: nil, in: nil, limit: 10)
    let now = FuzzedParser.now + .days(40)
    _ = try await store.trim(
      tombstones: now, notifications: now, feedback: now, limit: 100, leases: leases)
  }

  private static func claim(_ store: SQLiteStore) async throws -> [Lease] {
    try await store.claim(
      eras: Dictionary(uniqueKeysWithValues: PartitionID.all.map { ($0, 2) }))
  }

  private static func journal(
    _ store: SQLiteStore, beyond tables: [PartitionTables]
  ) async throws -> [JournalEntry] {
    let cursors = Dictionary(uniqueKeysWithValues: tables.map { ($0.id, $0.cursor) })
    var entries: [JournalEntry] = []
    var place: JournalPlace?
    repeat {
      let part = try await store.journal(after: place, beyond: cursors, limit: 1_000)
      entries += part.entries
      place = part.next
    } while place != nil
    return entries
  }
}
