/// The cost of the parts of a step other than matching, in units of one examined subscription. The
/// numbers are rough measurements.
enum StepCost {
  /// The cost of any fact: its feeds, ids and rows.
  static let fact = 64
  /// One subscription saved or deleted.
  static let operation = 64
  /// A notification that is logged.
  static let notification = 32
  /// A notification that is added to one device's lane.
  static let delivery = 16
}
