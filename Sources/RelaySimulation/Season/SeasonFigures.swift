/// What a season came to.
package struct SeasonFigures: Sendable {
  package var hours = 0
  package var changes = 0
  /// Handed to Apple, and those that it took.
  package var attempts = 0
  package var pushes = 0
  /// Of those that it took: the app ran; a newer one or its owner came first; nobody heard of them.
  package var ran = 0
  package var replaced = 0
  package var dropped = 0
  package var crashes = 0
  package var unfetched = 0
  /// For each change and phone, the seconds that the phone could be reached between the change's
  /// acceptance and its fetch.
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

  /// Seconds that so many of a hundred did not exceed.
  package func freshness(percent: Int) -> Int {
    guard !freshness.isEmpty else { return 0 }
    let sorted = freshness.sorted()
    return Int(sorted[min(sorted.count - 1, sorted.count * percent / 100)])
  }
}
