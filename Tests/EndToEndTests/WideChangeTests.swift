import Foundation
import RelayCore
import RelayEngine
import RelayStore
import Testing

/// A public change for very many users, on the real binary. `zonerelay-bench fanout` makes the same
/// change for a million users, and measures it.
@Suite(.serialized) struct WideChangeTests {
  private static let subscribers = 20_000

  /// P1: the relay answers at once and delivers in slices. A kill between slices loses no
  /// notification and doubles no notification.
  @Test func `a kill between the slices of a public change loses no subscriber`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    try await Readership(count: Self.subscribers).settle(in: workplace.file("store"))

    var daemon = try await RunningDaemon.start(in: workplace)
    let begin = ContinuousClock.now
    #expect(try await Readership.publish("A1", to: daemon).status == 202)
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
      daemon.web, user: Readership.user(7).name, in: workplace,
      pushToken: String(repeating: "ab", count: 32))
    #expect(try await phone.notifications().map { $0["recordName"].string } == ["A1"])
    #expect(await daemon.stop().status == 0)
    #expect(try await Self.withoutExactlyOne("A1", in: workplace.file("store")) == 0)
  }

  /// The number of subscribers whose feed is not exactly one notification of `record`.
  private static func withoutExactlyOne(_ record: String, in directory: URL) async throws -> Int {
    let store = try SQLiteStore(StoreSettings(directory: directory.path))
    var count = 0
    for number in 0..<subscribers {
      let feed = FeedKey(scope: Readership.scope, kind: .notifications(Readership.user(number)))
      let answer = try await store.page(
        PageQuery(feed: feed, reader: Readership.user(number), after: nil, limit: 10))
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
