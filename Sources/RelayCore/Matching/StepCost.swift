/// The cost of a step's other parts, in units of one examined subscription, roughly as measured.
enum StepCost {
  /// Any fact: its feeds, ids and rows.
  static let fact = 64
  /// One subscription saved or deleted.
  static let operation = 64
  /// A notification that is logged.
  static let notification = 32
  /// A notification that is added to one device's lane.
  static let delivery = 16
}

extension Partition {
  /// A user's own subscriptions that a change fires; adds the cost of finding them to `work`.
  mutating func matches(
    _ change: Change, in database: Database, of user: Int, before ordinal: Ordinal
  ) -> [SubscriptionIndex.Held] {
    var reading = ChangeReading(change)
    let held = index.matches(&reading, in: database, of: user, before: ordinal)
    work += reading.work + reading.read
    return held
  }
}
