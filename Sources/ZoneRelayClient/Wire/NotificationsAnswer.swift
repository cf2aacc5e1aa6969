/// `notifications/changes`. The answer to an expired token has `syncToken` alone.
struct NotificationsAnswer: Decodable {
  var notifications: [NotificationPage.Notification]?
  var syncToken: String
  var moreComing: Bool?
}
