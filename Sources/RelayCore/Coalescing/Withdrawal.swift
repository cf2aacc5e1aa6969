/// What wakes no longer tell: a removed subscription, or a zone that has ended or that the user may
/// not see any more.
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
