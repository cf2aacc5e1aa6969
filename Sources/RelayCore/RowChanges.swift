import OrderedCollections

/// Tables' rows that the next cut writes, beside those that parts drain. Devices are kept by slot
/// and read at the cut.
struct RowChanges: Sendable {
  var subscriptions: OrderedDictionary<SubscriptionKey, SubscriptionRow?> = [:]
  var devices: OrderedSet<Int> = []
  var devicesRemoved: OrderedSet<DeviceKey> = []
  var remembered: [Remembered] = []
  var forgotten: Ordinal = .zero
  var outbox: [OutboxRow] = []
  var delivered: [OutboxRow.Key] = []
  var heard: OrderedSet<Hearing> = []
  var expiries: [FeedExpiry] = []
  var isRestoreProven: Bool?
  var feedback: [Feedback] = []
}
