/// What is no longer told: a subscription was removed, or a zone ended or was withdrawn.
package enum Withdrawal: Hashable, Sendable {
  case subscription(SubscriptionID, Database)
  case zone(ZoneID, Database)

  package func means(_ notice: NotificationContent) -> Bool {
    switch self {
    case .subscription(let id, let database):
      notice.subscription == id && notice.database == database
    case .zone(let zone, let database): notice.zone == zone && notice.database == database
    }
  }
}
