internal import Foundation
internal import ZoneRelayClient

/// What belongs to one user: the zones of each database, notifications and subscriptions.
struct UserFeeds {
  struct Zone {
    var entry = FeedEntry()
    var loss: ZoneLoss?
  }

  struct Notification {
    var entry = FeedEntry()
    var id = UUID()
    var subscription = ""
    var kind = SavedSubscription.Kind.database
    var zone: ZoneID
    var record: String?
    var database = ""
  }

  var databases: [UserDatabase: [ZoneID: Zone]] = [:]
  var notifications: [String: Notification] = [:]
  /// The subscriptions of each database, by their ids.
  var subscriptions: [String: [String: SavedSubscription]] = [:]

  func head(of database: UserDatabase) -> Int {
    databases[database]?.values.map(\.entry.position).max() ?? 0
  }

  var notificationsHead: Int { notifications.values.map(\.entry.position).max() ?? 0 }
}
