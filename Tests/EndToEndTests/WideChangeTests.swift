import Foundation
import RelayCore
import RelayEngine
import RelayStore
import Testing

/// A public change for very many users, on the real binary: `zonerelay-bench fanout` does the same
/// with a million and measures it.
@Suite(.serialized) struct WideChangeTests {
  private static let subscribers = 20_000
  private static let scope = Scope(
    container: Workplace.container, environment: .development)

  private static func user(_ number: Int) -> UserID { UserID("_subscriber\(number)") }

  /// P1: answered at once, told in slices; a kill among them loses none and doubles none.
  @Test func aKillAmongTheSlicesOfAPublicChangeLosesNoSubscriber() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    try workplace.configure()
    try await Self.seed(workplace.file("store"))

    var daemon = try await RunningDaemon.start(in: workplace)
    let begin = ContinuousClock.now
    #expect(try await Self.post("A1", to: daemon, workplace).status == 202)
    #expect(ContinuousClock.now - begin < .seconds(1))
    let isUnderWay = try await Pause.until {
      try await daemon.status()["fanouts"]["running"].int ?? 0 > 0
    }
    #expect(isUnderWay)
    await daemon.kill()

    daemon = try await RunningDaemon.start(in: workplace)
    let isDone = try await Pause.until(seconds: 60) {
      let status = try await daemon.status()
      return status["fanouts"]["running"].int == 0 && status["store"]["journalTail"].int == 0
        && status["ledger"]["balanced"].bool == true
    }
    #expect(isDone)
    let phone = Phone(
      daemon.web, user: Self.user(7).name, in: workplace,
      pushToken: String(repeating: "ab", count: 32))
    #expect(try await phone.notifications().map { $0["recordName"].string } == ["A1"])
    #expect(await daemon.stop().status == 0)
    #expect(try await Self.withoutExactlyOne("A1", in: workplace.file("store")) == 0)
  }

  private static func post(
    _ record: String, to daemon: RunningDaemon, _ workplace: Workplace
  ) async throws -> Web.Answer {
    try await Producer.send(
      Producer.encode([
        [
          "specversion": "1.0", "id": "wide-\(record)", "source": "/records/api-1",
          "type": "zonerelay.record.created",
          "data": [
            "database": "public",
            "zoneID": ["zoneName": "_defaultZone", "ownerRecordName": "_defaultOwner"],
            "record": ["recordName": record, "recordType": "Article"],
          ],
        ]
      ]), to: daemon.web, key: workplace.producerKey)
  }

  /// Every user's subscription, by the store's own fold: HTTP would take minutes for them.
  private static func seed(_ directory: URL) async throws {
    let store = try SQLiteStore(StoreSettings(directory: directory.path))
    let eras = Dictionary(uniqueKeysWithValues: PartitionID.all.map { ($0, UInt64(7)) })
    let leases = try await store.claim(eras: eras)
    var parts = PartitionID.all.map { PartitionCut(id: $0, cursor: .zero) }
    let subscription = Subscription(
      id: SubscriptionID("articles"), database: .public,
      rule: .query(QueryRule(recordType: "Article")), info: NotificationInfo())
    for number in 0..<subscribers {
      let index = Int(PartitionID.home(of: user(number), in: scope).number)
      parts[index].cursor = parts[index].cursor.next
      parts[index].subscriptions.append(
        SubscriptionRow(
          scope: scope, user: user(number), serial: Position(parts[index].cursor),
          subscription: subscription))
    }
    let home = PartitionID.home(of: .publicDefault, .public, in: scope)
    parts[Int(home.number)].interests = [Interest(scope: scope, partitions: .max)]
    _ = try await store.fold(Cut(at: .zero, partitions: parts), leases: leases)
    await store.close()
  }

  /// How many subscribers' feeds hold anything but one notification of this record.
  private static func withoutExactlyOne(_ record: String, in directory: URL) async throws -> Int {
    let store = try SQLiteStore(StoreSettings(directory: directory.path))
    var count = 0
    for number in 0..<subscribers {
      let feed = FeedKey(scope: scope, kind: .notifications(user(number)))
      let answer = try await store.page(
        PageQuery(feed: feed, reader: user(number), after: nil, limit: 10))
      guard case .page(let page) = answer, page.entries.count == 1,
        case .notification(_, _, record) = page.entries[0].subject
      else {
        count += 1
        continue
      }
    }
    await store.close()
    return count
  }
}
