import Foundation
import ZoneRelayClient

// docs/from-cloudkit.md shows the code between the sample comments below.

// The pages show the lines from here as their sample "sink".
/// The app's copy, here in memory. In your app it is a database, and each call is one transaction.
actor ArticleCopy: ChangeSink {
  struct Zone {
    var records = ZoneRecords()  // names and change tags
    var texts: [String: String] = [:]
  }
  struct Unread: Hashable { var notification: String, subscription: String? }  // its identity

  private(set) var zones: [ZoneID: Zone] = [:]
  private(set) var unread: Set<Unread> = []
  private let recordServer: @Sendable (ZoneID, [String]) async throws -> [String: String]

  init(recordServer: @escaping @Sendable (ZoneID, [String]) async throws -> [String: String]) {
    self.recordServer = recordServer
  }

  // Instead of recordWasChangedBlock, recordWithIDWasDeletedBlock and
  // recordZoneChangeTokensUpdatedBlock, or of CKSyncEngine's fetchedRecordZoneChanges. Called with
  // up to 200 records.
  func apply(_ page: ZonePage) async throws {
    var zone = zones[page.zone] ?? Zone()
    let wanted = page.toFetch { zone.records.tags[$0] }.map(\.name)
    let fetched = try await recordServer(page.zone, wanted)
    for name in zone.records.apply(page) { zone.texts[name] = nil }
    zone.texts.merge(fetched) { $1 }
    zones[page.zone] = zone
  }

  // Instead of recordZoneWithIDWasDeletedBlock, recordZoneWithIDWasPurgedBlock and
  // recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock, or of CKSyncEngine's
  // fetchedDatabaseChanges.
  func remove(_ zone: ZoneID, _ why: ZoneLoss) { zones[zone] = nil }

  // Instead of CKFetchNotificationChangesOperation. Called for query subscriptions only; a page may
  // come twice.
  func apply(_ page: NotificationPage) {
    if page.startsOver { unread = [] }
    for one in page.notifications where one.recordName != nil {
      let article = Unread(notification: one.notificationID, subscription: one.subscriptionID)
      if one.read == true { unread.remove(article) } else { unread.insert(article) }
    }
  }

  // Instead of CKAccountChanged, or of CKSyncEngine's accountChange.
  func accountChanged(from: String?, to: String?) { (zones, unread) = ([:], []) }
}
// The sample ends here.

enum CloudKitSamples {
  // The pages show the lines from here as their sample "start".
  static func start(
    _ copy: ArticleCopy, relay: RelayAddress, state: URL,
    signedIn: @escaping @Sendable () async throws -> UserToken?
  ) async throws -> ZoneRelayClient {
    // Instead of CKSyncEngine.Configuration(database:stateSerialization:delegate:)
    let client = try ZoneRelayClient(relay, state: .file(state), sink: copy) { _ in
      try await signedIn()
    }
    // Instead of CKModifySubscriptionsOperation(subscriptionsToSave:)
    let unread = RecordQuery(
      recordType: "Article", filters: [.init(.field("state"), .equals, .string("unread"))],
      firesOn: [.create])
    let results = try await client.prepare([
      .database("own", .private),  // CKDatabaseSubscription
      .database("shared", .shared),  // the same in sharedCloudDatabase
      .zone("reading", ZoneID(name: "ReadingList", owner: "_alice")),  // CKRecordZoneSubscription
      .query(  // CKQuerySubscription
        "unread", in: .private, unread, notification: .alert("New article", sound: "default"),
        additionalFields: ["title"]),
    ])
    for result in results {  // CKError.partialFailure
      if let error = result.error { print("\(result.id) is not saved: \(error)") }
    }
    // On iOS: .apns(token, topic: "com.example.notes", sandbox: …), at each launch
    try await client.register(.courier)
    try await client.fetchAllChanges()  // CKSyncEngine: fetchChanges()
    return client
  }
  // The sample ends here.

  // The pages show the lines from here as their sample "push".
  /// - Returns: whether there was something new.
  static func didReceive(
    _ userInfo: [AnyHashable: Any], _ client: ZoneRelayClient
  ) async throws -> Bool {
    // Instead of CKNotification(fromRemoteNotificationDictionary:)
    guard let wake = Wake(userInfo: userInfo) else { return false }
    return try await client.handle(wake).records > 0
  }
  // The sample ends here.
}
