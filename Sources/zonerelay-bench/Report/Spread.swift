/// Several measurements of the same value.
struct Spread: Codable {
  var median: Double
  var min: Double
  var max: Double

  /// - Precondition: there is at least one value.
  init(_ values: [Double]) {
    precondition(!values.isEmpty, "a spread needs a value")
    let sorted = values.sorted()
    let middle = sorted.count / 2
    median =
      sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    min = sorted[0]
    max = sorted[sorted.count - 1]
  }
}

/// The durations of single operations.
struct Latencies: Sendable {
  private var nanoseconds: [Int64] = []

  mutating func add(nanoseconds value: Int64) { nanoseconds.append(value) }
  mutating func add(_ other: Latencies) { nanoseconds += other.nanoseconds }
  var count: Int { nanoseconds.count }

  /// The percentile in milliseconds, with `share` between 0 and 1; zero if nothing was measured.
  func percentile(_ share: Double) -> Double {
    guard !nanoseconds.isEmpty else { return 0 }
    let sorted = nanoseconds.sorted()
    let index = Swift.min(sorted.count - 1, Int(Double(sorted.count) * share))
    return Double(sorted[index]) / 1e6
  }
}
