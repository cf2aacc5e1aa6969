/// The results of a season.
package struct SeasonFigures: Sendable {
  package var hours = 0
  package var changes = 0
  /// Pushes handed to Apple, and those that Apple took.
  package var attempts = 0
  package var pushes = 0
  /// What happened to the pushes that Apple took. `ran`: the app ran. `replaced`: while the push
  /// waited, a newer push came or the owner opened the app. `dropped`: the push never reached the
  /// app.
  package var ran = 0
  package var replaced = 0
  package var dropped = 0
  package var crashes = 0
  package var unfetched = 0
  /// For each change and phone, how many seconds the phone could be reached between the step of the
  /// change and its fetch.
  package var freshness: [Int32] = []

  package init() {}

  package static func + (left: SeasonFigures, right: SeasonFigures) -> SeasonFigures {
    var sum = left
    for path in columns { sum[keyPath: path] += right[keyPath: path] }
    sum.freshness += right.freshness
    return sum
  }

  private static var columns: [WritableKeyPath<SeasonFigures, Int>] {
    [
      \.hours, \.changes, \.attempts, \.pushes, \.ran, \.replaced, \.dropped, \.crashes,
      \.unfetched,
    ]
  }

  package var line: String {
    "device-hours \(hours), changes \(changes), attempts \(attempts), taken \(pushes), ran \(ran),"
      + " replaced \(replaced), dropped \(dropped), crashes \(crashes)"
  }

  package var pushesPerHour: Double { Double(pushes) / Double(max(hours, 1)) }

  /// The number of seconds that `percent` per cent of the values do not exceed.
  package func freshness(percent: Int) -> Int {
    guard !freshness.isEmpty else { return 0 }
    let sorted = freshness.sorted()
    return Int(sorted[min(sorted.count - 1, sorted.count * percent / 100)])
  }
}
