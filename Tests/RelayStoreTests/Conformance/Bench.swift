@testable import RelayCore
import RelayEngine
import Testing

/// One user's data in a store: a partition with its lease, and short names for a test's steps.
struct Bench {
  static let scope = Scope(container: "iCloud.com.example.notes", environment: .development)
  static let owner = UserID("_owner")

  /// The bench holds this object: a `StoreHome` that nothing refers to removes its data.
  let base: any StoreHome
  let store: any Store
  let leases: [Lease]
  var at = Instant(milliseconds: 1_000)
  /// The last ordinal given, by partition.
  private(set) var lasts: [PartitionID: Ordinal] = [:]

  /// Opens a store and claims all its partitions.
  init(_ home: any StoreHome, era: UInt64 = 100) async throws {
    base = home
    store = try home.open()
    leases = try await store.claim(
      eras: Dictionary(uniqueKeysWithValues: PartitionID.all.map { ($0, era + UInt64($0.number)) }))
    for lease in leases {
      lasts[lease.partition] = Ordinal(lease.era.first.number - 1)
    }
  }

  /// A store with nothing in it.
  static func fresh(_ kind: StoreKind, _ limits: Limits = Limits()) async throws -> Bench {
    try await Bench(kind.home(limits))
  }

  var home: PartitionID { .home(of: Self.owner, in: Self.scope) }
  var feed: FeedKey { FeedKey(scope: Self.scope, kind: .zone(zone())) }
  var privates: FeedKey {
    FeedKey(scope: Self.scope, kind: .database(Self.owner, .private))
  }
  var notifications: FeedKey { FeedKey(scope: Self.scope, kind: .notifications(Self.owner)) }

  func zone(_ name: String = "ReadingList", of owner: UserID = Bench.owner) -> ZoneID {
    ZoneID(name: name, owner: owner)
  }

  func lease(of partition: PartitionID) -> Lease { leases[Int(partition.number)] }

  mutating func next(_ partition: PartitionID? = nil) -> Ordinal {
    let partition = partition ?? home
    let next = lasts[partition, default: .zero].next
    lasts[partition] = next
    return next
  }

  func cut(_ build: (inout PartitionCut) -> Void) -> Cut {
    cut(home, build)
  }

  func cut(_ partition: PartitionID, _ build: (inout PartitionCut) -> Void) -> Cut {
    var part = PartitionCut(id: partition, cursor: lasts[partition, default: .zero])
    build(&part)
    return Cut(at: at, partitions: [part])
  }

  @discardableResult
  func fold(_ build: (inout PartitionCut) -> Void) async throws -> [OutboxRow] {
    try await store.fold(cut(build), leases: leases)
  }

  /// Folds one mutation of one subject.
  @discardableResult
  mutating func mutate(
    _ feed: FeedKey, _ subject: Subject, _ verb: FeedMutation.Verb, device: ClientID? = nil
  ) async throws -> Position {
    let position = Position(next(feed.partition))
    let delta = SubjectDelta(
      subject: subject, delta: Delta(mutation(subject, verb, position, device)))
    let cut = cut(feed.partition) { $0.feeds = [FeedCut(feed: feed, deltas: [delta])] }
    _ = try await store.fold(cut, leases: leases)
    return position
  }

  func mutation(
    _ subject: Subject, _ verb: FeedMutation.Verb, _ position: Position, _ device: ClientID? = nil
  ) -> FeedMutation {
    let detail: Detail =
      switch subject {
      case .record: .record(type: "Article", tag: "\(position.bits)")
      case .zone: .zone
      case .notification:
        .notification(
          NotificationDetail(
            kind: .zone, database: .private,
            notification: Identifier(high: 1, low: position.bits)))
      }
    return FeedMutation(verb: verb, position: position, device: device, time: at, detail: detail)
  }

  /// Makes the zone exist, so that its feed may be read.
  mutating func makeZone(_ name: String = "ReadingList") async throws {
    try await mutate(privates, .zone(zone(name)), .created)
  }

  mutating func record(_ name: String, _ verb: FeedMutation.Verb) async throws -> Position {
    try await mutate(feed, .record(name), verb)
  }

  func page(
    _ feed: FeedKey, after: FeedCursor? = nil, limit: Int = 200, by reader: UserID = Bench.owner,
    looks: Int = PageQuery.looksMax
  ) async throws -> PageAnswer {
    try await store.page(
      PageQuery(feed: feed, reader: reader, after: after, limit: limit, looks: looks))
  }

  /// Reads a page; any other answer is an error.
  func read(
    _ feed: FeedKey, after: FeedCursor? = nil, limit: Int = 200, by reader: UserID = Bench.owner
  ) async throws -> Page {
    let answer = try await page(feed, after: after, limit: limit, by: reader)
    guard case .page(let page) = answer else { throw NoPage(answer: answer) }
    return page
  }

  struct NoPage: Error { var answer: PageAnswer }

  /// All pages from a place to the feed's end.
  func follow(
    _ feed: FeedKey, from place: FeedCursor? = nil, limit: Int
  ) async throws -> (entries: [Entry], end: FeedCursor, pages: Int) {
    var entries: [Entry] = []
    var place = place
    var pages = 0
    while true {
      let page = try await read(feed, after: place, limit: limit)
      if page.hasMore { #expect(page.next.position > place?.position ?? .zero) }
      entries += page.entries
      pages += 1
      place = page.next
      if !page.hasMore { return (entries, page.next, pages) }
    }
  }
}

extension Store {
  /// One partition's journal after an ordinal, at most `limit` entries of it.
  func journal(
    _ partition: PartitionID, after: Ordinal, limit: Int
  ) async throws(StoreError) -> [JournalEntry] {
    var entries: [JournalEntry] = []
    var place: JournalPlace?
    repeat {
      let part = try await journal(after: place, beyond: [partition: after], limit: limit)
      entries += part.entries
      place = part.next
    } while place != nil && entries.count < limit
    return Array(entries.prefix(limit))
  }
}
