public import Foundation

/// A page of the user's notifications. A change makes one notification for each subscription that
/// the change fires.
public struct NotificationPage: Hashable, Sendable {
  public struct Notification: Hashable, Sendable, Decodable {
    /// This id and `subscriptionID` together identify the notification.
    public let notificationID: String
    public let subscriptionID: String?
    /// `query`, `zone`, `database`, or `read` for a notification that was marked as read.
    public let notificationType: String
    /// `public`, `private` or `shared`.
    public let database: String?
    public let zoneID: ZoneID?
    /// The name of the changed record; only a notification of a query subscription has it.
    public let recordName: String?
    /// `created`, `updated` or `deleted`; only a notification of the type `query` has it.
    public let queryNotificationReason: String?
    /// Whether this installation made the change.
    public let own: Bool?
    public let read: Bool?
  }

  public let notifications: [Notification]
  /// Whether notifications before this page are lost. No change is lost: the round also reads the
  /// databases.
  public let startsOver: Bool
  /// Whether no further page follows at present.
  public let isLast: Bool
  /// The time before which the app must not ask its record server for records of the public
  /// database and of shared zones. nil if the app may ask at once.
  public let notBefore: Date?
}
