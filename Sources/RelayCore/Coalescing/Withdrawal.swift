/// What is no longer told: a subscription was removed, or a zone ended or was withdrawn.
package enum Withdrawal: Hashable, Sendable {
  case subscription(SubscriptionID, Database)
  case zone(ZoneID, Database)

  package func means(_ content: NotificationContent) -> Bool {
    switch self {
    case .subscription(let id, let database):
      content.subscription == id && content.database == database
    case .zone(let zone, let database): content.zone == zone && content.database == database
    }
  }
}
