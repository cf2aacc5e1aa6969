internal import Foundation

/// `notifications/changes`. The answer to an expired token has `syncToken` alone.
struct NotificationsAnswer: Decodable {
  var notifications: [NotificationPage.Notification]?
  var syncToken: String
  var moreComing: Bool?
}

extension NotificationPage {
  init(_ answer: NotificationsAnswer, startsOver: Bool, notBefore: Double?) {
    self.init(
      notifications: answer.notifications ?? [], startsOver: startsOver,
      isLast: answer.moreComing != true,
      notBefore: notBefore.map { Date(timeIntervalSince1970: $0) })
  }
}
