/// The cost of the parts of a step other than matching, in units of one examined subscription. The
/// numbers are rough measurements.
enum StepCost {
  /// The cost of any fact: its feeds, ids and rows.
  static let fact = 64
  /// The cost of one subscription that is saved or deleted.
  static let operation = 64
  /// The cost of a notification that is logged.
  static let notification = 32
  /// The cost of a notification that is added to one device's lane.
  static let delivery = 16
}
