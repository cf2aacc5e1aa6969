import Foundation
import RelayCore
import RelayEngine
import RelayStore

/// Very many users who subscribe to the public articles. The store's own fold creates them, because
/// HTTP would take minutes.
struct Readership {
  static let scope = Scope(container: Workplace.container, environment: .development)

  private static let articles = Subscription(
    id: SubscriptionID("articles"), database: .public,
    rule: .query(QueryRule(recordType: "Article")), info: NotificationInfo())

  /// What a user has besides the subscription to the articles.
  struct Belongings {
    var subscriptions: [Subscription] = []
    var token: [UInt8]?
  }

  var count: Int

  static func user(_ number: Int) -> UserID { UserID("_subscriber\(number)") }

  /// Makes the store of a daemon that does not run yet.
  func settle(
    in directory: URL, belongings: (Int) -> Belongings = { _ in Belongings() }
  ) async throws {
    let store = try SQLiteStore(StoreSettings(directory: directory.path))
    let eras = Dictionary(uniqueKeysWithValues: PartitionID.all.map { ($0, UInt64(7)) })
    let leases = try await store.claim(eras: eras)
    var parts = PartitionID.all.map { PartitionCut(id: $0, cursor: .zero) }
    for number in 0..<count {
      let home = PartitionID.home(of: Self.user(number), in: Self.scope)
      Self.add(number, belongings(number), to: &parts[Int(home.number)])
    }
    let home = PartitionID.home(of: .publicDefault, .public, in: Self.scope)
    let key = Interest.Key(scope: Self.scope, database: .public, recordType: "Article")
    parts[Int(home.number)].interests = PartitionID.all.map {
      InterestRow(source: $0, interest: Interest(key: key, fields: .all))
    }
    _ = try await store.fold(Cut(at: .zero, partitions: parts), leases: leases)
    await store.close()
  }

  private static func add(
    _ number: Int, _ belongings: Belongings, to part: inout PartitionCut
  ) {
    part.cursor = part.cursor.next
    for (offset, subscription) in ([articles] + belongings.subscriptions).enumerated() {
      part.subscriptions.append(
        SubscriptionRow(
          scope: scope, user: user(number), serial: Position(part.cursor, index: offset),
          subscription: subscription))
    }
    guard let token = belongings.token else { return }
    let client = ClientID(Identifier(high: 0x4000, low: 0x8000_0000_0000_0000 | UInt64(number)))
    part.devices.append(
      DeviceRow(
        key: DeviceKey(scope: scope, user: user(number), client: client),
        address: Address(transport: .apns, topic: Workplace.topic, token: token),
        registeredAt: .zero, registration: part.cursor, lane: .empty))
  }

  /// Reports a new public article, which is a change for all users with the subscription.
  static func publish(_ record: String, to daemon: RunningDaemon) async throws -> Web.Answer {
    try await Producer.send(
      Producer.encode([
        [
          "specversion": "1.0", "id": "article-\(record)", "source": "/records/api-1",
          "type": "zonerelay.record.created",
          "data": [
            "database": "public",
            "zoneID": ["zoneName": "_defaultZone", "ownerRecordName": "_defaultOwner"],
            "record": ["recordName": record, "recordType": "Article"],
          ],
        ]
      ]), to: daemon.web, key: daemon.workplace.producerKey)
  }
}
