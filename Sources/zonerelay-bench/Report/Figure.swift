/// One line of a report: what we reached, what it is compared with, and what we aim for.
struct Figure: Codable {
  /// The goal it belongs to, such as `S1`.
  var goal: String
  var name: String
  var unit: String
  var ours: Spread
  var reference: Reference?
  /// Ours to the reference, pair by pair.
  var ratio: Spread?
  /// Of the ratio, or of the value itself where nothing is compared.
  var target: Target?

  struct Reference: Codable {
    var name: String
    var value: Spread
    /// Measured elsewhere, not in this run.
    var isPublished = false
  }

  /// More is better where `floor` is below `goal`.
  struct Target: Codable {
    var floor: Double
    var goal: Double
  }

  /// Something measured in pairs.
  init(
    _ goal: String, _ name: String, unit: String, ours: [Double], reference: String,
    _ values: [Double], floor: Double? = nil, aim: Double? = nil
  ) {
    self.init(goal, name, unit: unit, ours: ours, floor: floor, aim: aim)
    self.reference = Reference(name: reference, value: Spread(values))
    ratio = Spread(zip(ours, values).map { $0 / $1 })
  }

  /// Something compared with a published range.
  init(
    _ goal: String, _ name: String, unit: String, ours: [Double], published: String,
    _ range: ClosedRange<Double>, floor: Double? = nil, aim: Double? = nil
  ) {
    self.init(goal, name, unit: unit, ours: ours, floor: floor, aim: aim)
    let known = Spread([range.lowerBound, range.upperBound])
    reference = Reference(name: published, value: known, isPublished: true)
    ratio = Spread(ours.map { $0 / known.median })
  }

  /// Something that stands for itself.
  init(
    _ goal: String, _ name: String, unit: String, ours: [Double], floor: Double? = nil,
    aim: Double? = nil
  ) {
    self.goal = goal
    self.name = name
    self.unit = unit
    self.ours = Spread(ours)
    if let floor, let aim { target = Target(floor: floor, goal: aim) }
  }
}
