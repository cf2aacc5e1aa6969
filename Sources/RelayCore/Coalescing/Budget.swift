/// A device's limit of wakes: at most `max` in any stretch of `per`.
///
/// The budget keeps the time of each wake. So the limit holds for every stretch, not only for fixed
/// hours, and it survives a restart exactly (P7).
package struct Budget: Hashable, Sendable {
  package struct Rule: Hashable, Sendable {
    package var max: Int
    package var per: Span

    package init(max: Int, per: Span) {
      self.max = max
      self.per = per
    }

    /// The gap between wakes that are spread evenly over the stretch.
    var evenGap: Span { Span(milliseconds: per.milliseconds / Int64(Swift.max(max, 1))) }
  }

  /// The times of the attempts, oldest first. `spend` drops those that are older than `per`.
  package private(set) var times: [Instant]

  package init(times: [Instant] = []) { self.times = times }

  /// When the next attempt is allowed: at `at`, but not before the oldest of the last `max`
  /// attempts is `per` old; `.never` if `max` is 0.
  package func opens(_ rule: Rule, at: Instant) -> Instant {
    guard times.count >= rule.max else { return at }
    guard rule.max > 0 else { return .never }
    return max(at, times[times.count - rule.max] + rule.per)
  }

  /// Removes an attempt that was made at `at`, so that the attempt does not count any more.
  package mutating func regain(_ at: Instant) {
    if let index = times.lastIndex(of: at) { times.remove(at: index) }
  }

  package mutating func spend(_ rule: Rule, at: Instant) {
    times.removeAll { $0 + rule.per <= at }
    times.append(at)
  }
}
