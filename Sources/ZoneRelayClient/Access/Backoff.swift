/// When the next request may be sent after failures: after the time that the relay named, otherwise
/// (also if that is less than a second) after 1 s, doubled with each further failure up to 5 min.
/// The client adds or subtracts up to a fifth, so that a million clients do not come back together.
struct Backoff {
  private var failures = 0
  private var isAnswered = false
  private var lastFailure = Duration.zero
  private(set) var until: Duration?
  /// Whether the relay has named the time, so that no call may come before it.
  private(set) var isAsked = false

  private static let longestSeconds = 300.0
  /// The time after a failure in which nothing is sent, however urgent it is.
  static let shortest = Duration.seconds(1)

  /// The relay has answered one request. The piece of work may still fail at its next one, and then
  /// the wait is longer than after the last failure.
  mutating func answered() { isAnswered = true }

  /// A piece of work has ended well. One that has asked nothing says nothing of the relay.
  mutating func ended() { if isAnswered { succeeded() } }

  /// The relay is well: the next failure counts as the first.
  mutating func succeeded() { self = Backoff() }

  /// Lets the next request pass at once.
  mutating func pass() { until = nil }

  /// Something says that the next request may succeed: it may be sent a second after the last
  /// failure. A time that the relay has named stays.
  mutating func hurry() {
    guard let until, !isAsked else { return }
    self.until = min(until, lastFailure + Self.shortest)
  }

  /// - Parameters:
  ///   - now: the time of a clock that never goes back.
  ///   - chance: a random number from 0 to 1.
  /// - Returns: how long to wait from now on.
  mutating func failed(at now: Duration, retryAfter: Duration?, chance: Double) -> Duration {
    (failures, isAnswered, lastFailure) = (failures + 1, false, now)
    var seconds = min(Self.longestSeconds, Double(1 << min(failures - 1, 9))) * (0.8 + chance * 0.4)
    isAsked = false
    if let retryAfter, retryAfter >= Self.shortest {
      // Never sooner than the relay asks.
      seconds = retryAfter / .seconds(1) * (1 + chance / 5)
      isAsked = true
    }
    let wait = Duration.milliseconds(Int64((seconds * 1_000).rounded()))
    until = now + wait
    return wait
  }
}
