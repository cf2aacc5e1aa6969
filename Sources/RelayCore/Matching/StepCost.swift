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
