package import RelayCore

/// What the engine asks of a store: an ordered journal, the tables a partition starts from, and the
/// feeds. Written for several relays from the first day: partitions are leased, and a lease of a
/// stale epoch writes nothing.
///
/// The conformance suite runs unchanged against every implementation.
package protocol Store: FeedReader, FeedbackStore {
  /// Takes partitions up. Begins a new era in each: its first ordinal is the one after the last
  /// that the journal ever held.
  ///
  /// - Parameter eras: a fresh random id for each partition, drawn by the caller.
  /// - Throws: `.inUse` if another daemon holds the store.
  func claim(eras: [PartitionID: UInt64]) async throws(StoreError) -> [Lease]

  /// What a partition starts from. Its journal's tail after `cursor` follows.
  func load(_ lease: Lease) async throws(StoreError) -> PartitionTables

  /// A part of the journal: what lies beyond the cursors given, each partition's in its order.
  /// Every row is read once, however many partitions it holds entries of.
  ///
  /// - Parameters:
  ///   - place: where the part before ended; nil: from the beginning.
  ///   - cursors: of the partitions wanted, the last ordinal that is known already.
  ///   - limit: about so many entries; a commit is not divided.
  func journal(
    after place: JournalPlace?, beyond cursors: [PartitionID: Ordinal], limit: Int
  ) async throws(StoreError) -> JournalPart

  /// The relay's time when it last folded: its own clock goes on from there.
  func latestInstant() async throws(StoreError) -> Instant

  /// Makes entries durable, in their order, in one group commit. Returns when they are.
  ///
  /// - Throws: `.full`, `.busy`, `.unwritable` and `.stale` wrote nothing, so the caller may answer
  ///   and go on; nor did `.tooLarge`: the caller divides the group. After `.unknown` nobody knows,
  ///   and the daemon must stop and let recovery decide.
  func append(_ entries: [JournalEntry], leases: [Lease]) async throws(StoreError)

  /// Brings a cut into the tables and feeds in one transaction and moves the cursors. Repeatable:
  /// the same cut again changes nothing. Journal rows below every cursor may go afterwards.
  ///
  /// - Returns: outbox rows the fold itself made: an address that moved sends `displaced` to the
  ///   partition of its old owner.
  /// - Throws: as `append`.
  func fold(_ cut: Cut, leases: [Lease]) async throws(StoreError) -> [OutboxRow]

  /// Removes tombstones, notifications and feedback older than the instants given, at most `limit`
  /// rows, and raises floors to what was removed, in one transaction.
  ///
  /// - Returns: how many rows went, and one for each cleared feed that had none to go, which counts
  ///   towards `limit` too; call again while it equals `limit`.
  func trim(
    tombstones: Instant, notifications: Instant, feedback: Instant, limit: Int, leases: [Lease]
  ) async throws(StoreError) -> Int

  /// For people: sizes.
  func health() async throws(StoreError) -> StoreUsage

  /// Ends all use; a repeated call does nothing.
  func close() async
}

/// Reads that never enter the loop. Each sees one snapshot, and blocks no writer.
package protocol FeedReader: Sendable {
  /// One page, entitlement checked in the same snapshot: a feed that the reader may not see, or
  /// that is not there, is `.absent`. Costs O(page · log n), however long the feed.
  func page(_ query: PageQuery) async throws(StoreError) -> PageAnswer

  /// Present zones of a database feed with the head of each zone's own feed: the digest for a
  /// reader whose token expired. In order of zone, after `zone`, at most `limit`.
  func zones(
    of user: UserID, _ database: Database, in scope: Scope, after zone: ZoneID?, limit: Int
  ) async throws(StoreError) -> [ZoneDigest]

  /// Whether a feed may have no room for all that one request could add. Costs nothing: most feeds
  /// are nowhere near their limit. As of the last fold.
  func isNearlyFull(_ feed: FeedKey) -> Bool

  /// How full a zone's or database's feed is, and which of these subjects it holds.
  func holdings(
    of feed: FeedKey, among subjects: Set<Subject>
  ) async throws(StoreError) -> Holdings

  /// The place at the head of a feed: where a client goes on from after an expiry.
  func head(of feed: FeedKey) async throws(StoreError) -> FeedCursor

  /// A user's subscriptions in one database, in the order saved: those after `serial`, at most
  /// `limit`.
  func subscriptions(
    of user: UserID, _ database: Database, in scope: Scope, after serial: Position, limit: Int
  ) async throws(StoreError) -> [SubscriptionRow]

  /// Those of the subscriptions named that the user has in one database, in any order.
  func subscriptions(
    named ids: [SubscriptionID], of user: UserID, _ database: Database, in scope: Scope
  ) async throws(StoreError) -> [Subscription]

  /// A user's devices in order of client id; `user` nil: everybody's.
  func devices(of user: UserID?, in scope: Scope?, limit: Int) async throws(StoreError)
    -> [DeviceRow]

  /// The devices that one installation's id names, in any scope and of any user.
  func devices(client: ClientID) async throws(StoreError) -> [DeviceRow]
}

/// A place in a store's journal, in its own terms.
package struct JournalPlace: Hashable, Sendable {
  package var number: Int64
  package init(_ number: Int64) { self.number = number }
}

package struct JournalPart: Hashable, Sendable {
  package var entries: [JournalEntry]
  /// Where the next part begins; nil: this is the end.
  package var next: JournalPlace?

  package init(entries: [JournalEntry], next: JournalPlace?) {
    self.entries = entries
    self.next = next
  }
}

/// The right to write a partition, until another relay takes it.
package struct Lease: Hashable, Sendable {
  package var partition: PartitionID
  package var epoch: UInt64
  package var era: Era

  package init(partition: PartitionID, epoch: UInt64, era: Era) {
    self.partition = partition
    self.epoch = epoch
    self.era = era
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
