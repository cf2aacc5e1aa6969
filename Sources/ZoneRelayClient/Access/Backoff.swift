/// When the next request may be sent after failures: after the time that the relay named, otherwise
/// after 1 s, doubled with each further failure up to 5 min. The client adds or subtracts up to a
/// fifth, so that a million clients do not come back together.
struct Backoff {
  private var failures = 0
  private(set) var until: Duration?

  private static let first = Duration.seconds(1)
  private static let longest = Duration.seconds(300)

  mutating func succeeded() { (failures, until) = (0, nil) }

  /// - Parameters:
  ///   - now: the time of a clock that never goes back.
  ///   - chance: a random number from 0 to 1.
  /// - Returns: how long to wait from now on.
  mutating func failed(at now: Duration, retryAfter: Duration?, chance: Double) -> Duration {
    failures += 1
    let doubled = min(Self.longest, Self.first * (1 << min(failures - 1, 9)))
    let wait: Duration =
      if let retryAfter {
        // Never sooner than the relay asks.
        retryAfter + retryAfter * (chance / 5)
      } else {
        doubled * (0.8 + chance * 0.4)
      }
    until = now + wait
    return wait
  }
}
