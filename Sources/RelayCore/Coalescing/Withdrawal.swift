/// What wakes no longer tell: a removed subscription, or a zone that has ended or that the user may
/// not see any more.
package enum Withdrawal: Hashable, Sendable {
  case subscription(SubscriptionID, Database)
  case zone(ZoneID, Database)

  package func means(_ content: NotificationContent) -> Bool {
    means(content.subscription, content.zone, content.database)
  }

  /// Whether this withdrawal is about a notification of this subscription, for this zone in this
  /// database.
  func means(_ subscription: SubscriptionID, _ zone: ZoneID, _ database: Database) -> Bool {
    switch self {
    case .subscription(let id, let its): subscription == id && database == its
    case .zone(let ended, let its): zone == ended && database == its
    }
  }
}
