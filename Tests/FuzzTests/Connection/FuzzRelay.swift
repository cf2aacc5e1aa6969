import RelayCore
import RelayEngine
import Synchronization

/// A relay that accepts everything and holds only one device. The test is of the HTTP layer.
final class FuzzRelay: RelayService, FeedReader {
  static let device = DeviceKey(
    scope: FuzzedParser.scope, user: UserID("_a"), client: ClientID(Identifier(high: 1, low: 2)))
  private static let head = FeedCursor(era: 1, position: Position(bits: 77))

  /// Facts from the HTTP layer that the journal could not read back.
  private let spoilt = Mutex<[Fact]>([])
  var isSpoilt: Bool { spoilt.withLock { !$0.isEmpty } }

  func submit(
    _ facts: [Fact], by submitter: Submitter
  ) async throws(Unavailable) -> [Answer] {
    let entries = facts.enumerated().map { index, fact in
      JournalEntry(
        partition: fact.homes.first ?? PartitionID(0), ordinal: Ordinal(UInt64(index) + 1),
        at: FuzzedParser.now, fact: fact)
    }
    // If the row cannot be read again, `again` is nil, and the facts count as spoilt.
    let again = try? JournalRow.entries(in: JournalRow.blob(of: entries), where: { _ in true })
    if again != entries { spoilt.withLock { $0 += facts } }
    return facts.map { fact in
      switch fact {
      case .change: .accepted
      case .register(let registration): .registered(registration.client)
      case .modify(let request):
        .subscriptions(
          request.operations.map { operation in
            switch operation {
            case .save(let subscription): .saved(subscription)
            case .delete(let id): .deleted(id)
            }
          })
      default: .done
      }
    }
  }

  func standings(
    of devices: [DeviceKey], zones: [ZoneID]
  ) async throws(Unavailable) -> Standings {
    Standings(devices: [], place: 0)
  }
  func known(_ changes: [Change]) async throws(Unavailable) -> [Bool] { changes.map { _ in false } }
  func visible(_ places: [ReadTarget], until: Instant) async throws(Unavailable) {}
  func served(_ reading: Reading) {}
  func acknowledged(wake: UInt32, by device: DeviceKey) {}
  func connected(_ device: DeviceKey, connection: UInt64, after: UInt32?) -> Bool { true }
  func left(_ device: DeviceKey, connection: UInt64, isExpectedBack: Bool) {}
  func refused(changes: Int) {}
  var readiness: Readiness { .ready }
  func health() async -> HealthSnapshot { HealthSnapshot() }
  func drain() {}

  func page(_ query: PageQuery) async throws(StoreError) -> PageAnswer {
    .page(
      Page(
        entries: [], next: Self.head, hasMore: false, since: query.after?.position ?? .zero))
  }

  func zones(
    of user: UserID, _ database: Database, in scope: Scope, after zone: ZoneID?, limit: Int
  ) async throws(StoreError) -> [ZoneDigest] {
    [ZoneDigest(zone: ZoneID(name: "Z", owner: user), head: Self.head)]
  }

  func isNearlyFull(_ feed: FeedKey) -> Bool { false }

  func holdings(
    of feed: FeedKey, among subjects: Set<Subject>
  ) async throws(StoreError) -> Holdings {
    Holdings(present: 0, held: [], max: 1_000)
  }

  func head(of feed: FeedKey) async throws(StoreError) -> FeedCursor { Self.head }

  func subscriptions(
    of user: UserID, _ database: Database, in scope: Scope, after serial: Position, limit: Int
  ) async throws(StoreError) -> [SubscriptionRow] { [] }

  func subscriptions(
    named ids: [SubscriptionID], of user: UserID, _ database: Database, in scope: Scope
  ) async throws(StoreError) -> [Subscription] { [] }

  func devices(
    of user: UserID?, in scope: Scope?, limit: Int
  ) async throws(StoreError) -> [DeviceRow] { [Self.row] }

  func devices(
    of user: UserID, in scope: Scope, after client: ClientID?, limit: Int
  ) async throws(StoreError) -> [DeviceRow] { client == nil ? [Self.row] : [] }

  func devices(client: ClientID) async throws(StoreError) -> [DeviceRow] {
    client == Self.device.client ? [Self.row] : []
  }

  private static let row = DeviceRow(
    key: device,
    address: Address(
      transport: .apns, topic: "com.example.notes", token: [1, 2, 3], environment: nil),
    registeredAt: FuzzedParser.now, registration: Ordinal(1), lane: .empty)
}

/// A clock whose time never changes.
struct FuzzClock: ClockReader {
  func wall() -> Instant { FuzzedParser.now }
  func boot() -> Instant { FuzzedParser.now }
}
