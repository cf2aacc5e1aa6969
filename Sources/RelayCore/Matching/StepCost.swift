/// What a step costs beside its looks at subscriptions, in such looks; about, as measured in time.
enum StepCost {
  /// Any fact: its place among feeds, ids and rows.
  static let fact = 64
  /// One subscription saved or deleted.
  static let operation = 64
  /// A notification that is logged.
  static let notification = 32
  /// A notification that is brought into one device's lane.
  static let delivery = 16
}

extension Partition {
  /// A user's own subscriptions that a change fires; what finding them cost is counted.
  mutating func matches(
    _ change: Change, in database: Database, of user: Int, before ordinal: Ordinal
  ) -> [SubscriptionIndex.Held] {
    var reading = ChangeReading(change)
    let held = index.matches(&reading, in: database, of: user, before: ordinal)
    work += reading.work + reading.read
    return held
  }
}
