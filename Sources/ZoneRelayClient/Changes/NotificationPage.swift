/// A page of the user's notifications, one for each subscription that a change fired.
public struct NotificationPage: Hashable, Sendable {
  public struct Notification: Hashable, Sendable, Decodable {
    public let notificationID: String
    public let subscriptionID: String?
    /// `query`, `zone`, `database`, or `read` for a notification that was read elsewhere.
    public let notificationType: String
    public let zoneID: ZoneID?
    public let recordName: String?
    /// `created`, `updated` or `deleted`, for queries.
    public let queryNotificationReason: String?
    public let own: Bool?
    public let read: Bool?
  }

  public let notifications: [Notification]
  /// True if the notifications before this page are lost. The databases' changes are not.
  public let startsOver: Bool
  public let isLast: Bool
}
