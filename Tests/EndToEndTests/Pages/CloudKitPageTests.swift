import Foundation
import Synchronization
import Testing
import ZoneRelayClient

/// docs/from-cloudkit.md: its samples are compiled and run here, and its requests are sent.
@Suite(.serialized) struct CloudKitPageTests {
  private static let page = "docs/from-cloudkit.md"
  private static let reading = ZoneID(name: "ReadingList", owner: "_alice")

  @Test func `the page's samples keep a copy, and its requests do the rest`() async throws {
    let page = try Page(Self.page)
    try PageRun.compareSamples(of: page)
    let shell = try await QuickStartShell.start()
    defer { shell.workplace.remove() }
    let asked = Mutex<[[String]]>([])
    let copy = ArticleCopy { _, names in
      asked.withLock { $0.append(names) }
      return Dictionary(uniqueKeysWithValues: names.map { ($0, "text of \($0)") })
    }
    let client = try await Self.client(copy, shell)
    try await PageRun.run(page, in: shell.workplace, before: shell.variables)

    try await client.fetchAllChanges()
    #expect(await copy.zones[Self.reading]?.texts == ["A1": "text of A1"])
    #expect(asked.withLock { $0 } == [["A1"]])
    #expect(await copy.unread.isEmpty, "the page's request has marked it as read")
    let bob = ArticleCopy { _, _ in [:] }
    let token = UserJWT.make(user: "_bob", secret: shell.workplace.userSecret)
    let participant = try ZoneRelayClient(
      shell.address, state: .file(shell.workplace.file("bob.state")), sink: bob,
      credentials: { _ in UserToken(jwt: token) })
    let isShared = try await Pause.until {
      try await participant.fetchAllChanges(.database(.shared))
      return await bob.zones[Self.reading] != nil
    }
    #expect(isShared)

    try await shell.report("zone.deleted", in: Self.reading)
    try await client.fetchAllChanges()
    #expect(await copy.zones.isEmpty)
    try await client.signOut()
    #expect(await shell.stop() == 0)
  }

  @Test func `a push is handled as the page shows, and any other is left alone`() async throws {
    let shell = try await QuickStartShell.start()
    defer { shell.workplace.remove() }
    let copy = ArticleCopy { _, _ in [:] }
    let client = try await Self.client(copy, shell)
    #expect(try await !CloudKitSamples.didReceive(["aps": ["alert": "Hello"]], client))
    try await shell.report(
      "record.created", in: Self.reading,
      ["record": ["recordName": "A1", "recordType": "Article"]])
    let push: [AnyHashable: Any] = [
      "aps": ["content-available": 1], "ck": ["ckuserid": "_alice"],
      "zr": ["w": 1, "z": [["ReadingList", "_alice", 1]]],
    ]
    #expect(try await CloudKitSamples.didReceive(push, client))
    #expect(await copy.zones[Self.reading]?.records.tags.keys.sorted() == ["A1"])
    #expect(await shell.stop() == 0)
  }

  /// Each name of CloudKit that the page must have a row for.
  @Test func `the page has each of CloudKit's pieces`() throws {
    let text = try String(
      contentsOf: Page.root.appendingPathComponent(Self.page), encoding: .utf8)
    for name in [
      "CKDatabaseSubscription", "CKRecordZoneSubscription", "CKQuerySubscription",
      "CKModifySubscriptionsOperation", "CKFetchSubscriptionsOperation",
      "CKFetchDatabaseChangesOperation", "CKFetchRecordZoneChangesOperation",
      "CKFetchNotificationChangesOperation", "CKMarkNotificationsReadOperation",
      "CKServerChangeToken", "CKNotification(fromRemoteNotificationDictionary:)",
      "changeTokenExpired", "moreComing", "CKAccountChanged", "CKSyncEngine", "CKShare",
      "CKAsset", "serverRecordChanged",
    ] { #expect(text.contains(name), "\(name)") }
  }

  /// Makes the client of the sample in docs/cloudkit.md, as an app does when it is launched.
  private static func client(
    _ copy: ArticleCopy, _ shell: QuickStartShell
  ) async throws -> ZoneRelayClient {
    let token = UserJWT.make(user: "_alice", secret: shell.workplace.userSecret)
    return try await CloudKitSamples.start(
      copy, relay: shell.address, state: shell.workplace.file("alice.state"),
      signedIn: { UserToken(jwt: token) })
  }
}
