package import RelayCore

/// What the engine needs of a store: an ordered journal, the tables from which a partition starts,
/// and the feeds. The interface allows several relays: partitions are leased, and a lease of a
/// stale epoch cannot write.
///
/// The conformance suite runs unchanged against every implementation.
package protocol Store: FeedReader, FeedbackStore {
  /// Claims partitions and begins a new era in each. The era's first ordinal follows the last one
  /// that the journal ever held.
  ///
  /// - Parameter eras: a fresh random id for each partition, drawn by the caller.
  /// - Throws: `.inUse` if another daemon holds the store.
  func claim(eras: [PartitionID: UInt64]) async throws(StoreError) -> [Lease]

  /// The tables from which a partition starts. The partition's journal after `cursor` is then read
  /// by `journal`.
  func load(_ lease: Lease) async throws(StoreError) -> PartitionTables

  /// Reads a part of the journal: the entries beyond the given cursors, in order within each
  /// partition. Every row is read once, however many partitions have entries in it.
  ///
  /// - Parameters:
  ///   - place: where the previous part ended; `nil` means that reading begins at the start of the
  ///     journal.
  ///   - cursors: for each wanted partition, the last ordinal that is already known.
  ///   - limit: about how many entries to read; a commit is not divided.
  func journal(
    after place: JournalPlace?, beyond cursors: [PartitionID: Ordinal], limit: Int
  ) async throws(StoreError) -> JournalPart

  /// Makes entries durable, in their order, in one group commit. Returns when they are durable.
  ///
  /// - Throws: after `.full`, `.busy` and `.unwritable` nothing was written, so the caller may
  ///   answer and go on; the same holds after `.tooLarge`, and the caller divides the group. After
  ///   `.stale` nothing was written, and another relay owns the partition. After `.unknown` the
  ///   outcome is unknown: the daemon must stop, and the next start finds out.
  func append(_ entries: [JournalEntry], leases: [Lease]) async throws(StoreError)

  /// Writes a cut into the tables and feeds in one transaction and moves the cursors. Writing the
  /// same cut again changes nothing. Journal rows below every cursor may be deleted afterwards.
  ///
  /// - Returns: the outbox rows that the fold itself made: for each address that moved, a
  ///   `displaced` message to the partition of the registration that lost it.
  /// - Throws: the same errors as `append`.
  func fold(_ cut: Cut, leases: [Lease]) async throws(StoreError) -> [OutboxRow]

  /// Removes at most `limit` rows in one transaction: entries of cleared feeds, and tombstones,
  /// notifications and feedback older than the given instants. Raises each feed's floor to the
  /// highest position of the old entries that were removed.
  ///
  /// - Returns: the number of removed rows, plus one for each cleared feed that had no row to
  ///   remove; at most `limit`. While the result equals `limit`, the caller calls again.
  func trim(
    tombstones: Instant, notifications: Instant, feedback: Instant, limit: Int, leases: [Lease]
  ) async throws(StoreError) -> Int

  /// The kind and the size of the store, for people.
  func health() async throws(StoreError) -> StoreUsage

  /// Ends all use of the store; a repeated call does nothing.
  func close() async
}

/// Reads the feeds and tables without entering the loop. Each read sees one snapshot and blocks no
/// writer.
package protocol FeedReader: Sendable {
  /// Reads one page and checks entitlement in the same snapshot: a feed that the reader may not
  /// see, or that does not exist, is `.absent`. The cost is O(page · log n), however long the feed
  /// is.
  func page(_ query: PageQuery) async throws(StoreError) -> PageAnswer

  /// The present zones of a database feed with the head of each zone's own feed: the digest for a
  /// reader whose token expired. The result has at most `limit` zones after `zone`, in order.
  func zones(
    of user: UserID, _ database: Database, in scope: Scope, after zone: ZoneID?, limit: Int
  ) async throws(StoreError) -> [ZoneDigest]

  /// Whether a feed may have no room for all that one request could add, as of the last fold. The
  /// call reads no table: the store remembers the feeds that are nearly full, and most feeds are
  /// far below their limit.
  func isNearlyFull(_ feed: FeedKey) -> Bool

  /// Whether `isNearlyFull` may be true of any feed. If not, a caller need not ask for each change
  /// of a request. A store that does not know says true.
  var isAnyNearlyFull: Bool { get }

  /// How full a zone's or database's feed is, and which of these subjects it holds.
  func holdings(
    of feed: FeedKey, among subjects: Set<Subject>
  ) async throws(StoreError) -> Holdings

  /// The position at the head of a feed, from which a client continues after an expiry.
  func head(of feed: FeedKey) async throws(StoreError) -> FeedCursor

  /// A user's subscriptions in one database after `serial`, in the order saved, at most `limit`.
  func subscriptions(
    of user: UserID, _ database: Database, in scope: Scope, after serial: Position, limit: Int
  ) async throws(StoreError) -> [SubscriptionRow]

  /// The named subscriptions that the user has in one database, in any order.
  func subscriptions(
    named ids: [SubscriptionID], of user: UserID, _ database: Database, in scope: Scope
  ) async throws(StoreError) -> [Subscription]

  /// A user's devices, ordered by client id. `nil` for `user` or `scope` means the devices of all
  /// users or scopes.
  func devices(of user: UserID?, in scope: Scope?, limit: Int) async throws(StoreError)
    -> [DeviceRow]

  /// One user's devices in one scope after `client`, ordered by client id, at most `limit`.
  func devices(
    of user: UserID, in scope: Scope, after client: ClientID?, limit: Int
  ) async throws(StoreError) -> [DeviceRow]

  /// The devices with one installation's id, in any scope and of any user.
  func devices(client: ClientID) async throws(StoreError) -> [DeviceRow]
}

extension FeedReader {
  package var isAnyNearlyFull: Bool { true }
}

/// A place in a store's journal, numbered by the store.
package struct JournalPlace: Hashable, Sendable {
  package var number: Int64
  package init(_ number: Int64) { self.number = number }
}

package struct JournalPart: Hashable, Sendable {
  package var entries: [JournalEntry]
  /// Where the next part begins; nil at the end of the journal.
  package var next: JournalPlace?

  package init(entries: [JournalEntry], next: JournalPlace?) {
    self.entries = entries
    self.next = next
  }
}

/// The right to write a partition, until another relay claims the partition.
package struct Lease: Hashable, Sendable {
  package var partition: PartitionID
  package var epoch: UInt64
  package var era: Era

  package init(partition: PartitionID, epoch: UInt64, era: Era) {
    (self.partition, self.epoch, self.era) = (partition, epoch, era)
  }
}

package struct StoreUsage: Hashable, Sendable {
  package var engine: String
  package var bytes: Int64

  package init(engine: String, bytes: Int64) {
    self.engine = engine
    self.bytes = bytes
  }
}
