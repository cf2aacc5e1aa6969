/// One line of a report: the measured value of zonerelay and, if there are any, the value that it
/// is compared with and the target.
struct Figure: Codable {
  /// The goal of docs/performance.md that the figure belongs to, such as `S1`.
  var goal: String
  var name: String
  var unit: String
  var ours: Spread
  var reference: Reference?
  /// Each of our values, divided by the value of the reference; nil if there is no reference.
  var ratio: Spread?
  /// The target for the ratio, or for the value itself where there is no reference.
  var target: Target?

  struct Reference: Codable {
    var name: String
    var value: Spread
    /// True if the value was measured elsewhere, not in this run.
    var isPublished = false
  }

  /// The target of a figure. A higher value is better if `floor` is below `goal`.
  struct Target: Codable {
    var floor: Double
    var goal: Double
  }

  /// A figure measured together with its reference: `ours[i]` and `values[i]` are from one pair of
  /// runs.
  init(
    _ goal: String, _ name: String, unit: String, ours: [Double], reference: String,
    _ values: [Double], floor: Double? = nil, aim: Double? = nil
  ) {
    self.init(goal, name, unit: unit, ours: ours, floor: floor, aim: aim)
    self.reference = Reference(name: reference, value: Spread(values))
    ratio = Spread(zip(ours, values).map { $0 / $1 })
  }

  /// A figure compared with a published range.
  init(
    _ goal: String, _ name: String, unit: String, ours: [Double], published: String,
    _ range: ClosedRange<Double>, floor: Double? = nil, aim: Double? = nil
  ) {
    self.init(goal, name, unit: unit, ours: ours, floor: floor, aim: aim)
    let known = Spread([range.lowerBound, range.upperBound])
    reference = Reference(name: published, value: known, isPublished: true)
    ratio = Spread(ours.map { $0 / known.median })
  }

  /// A figure without a reference.
  init(
    _ goal: String, _ name: String, unit: String, ours: [Double], floor: Double? = nil,
    aim: Double? = nil
  ) {
    (self.goal, self.name, self.unit) = (goal, name, unit)
    self.ours = Spread(ours)
    if let floor, let aim { target = Target(floor: floor, goal: aim) }
  }

  /// The median and the 99th percentile of each run's latencies.
  static func percentiles(_ goal: String, _ name: String, _ runs: [Latencies]) -> [Figure] {
    [("p50", 0.5), ("p99", 0.99)].map { label, share in
      Figure(goal, "\(name), \(label)", unit: "ms", ours: runs.map { $0.percentile(share) })
    }
  }
}
