/// The wait before the next request after failures: until the time that the relay named, if that is
/// at least a second away; otherwise 1 s, doubled with each further failure up to 5 min. Chance
/// makes the relay's wait up to a fifth longer, and the client's own wait up to a fifth longer or
/// shorter, so that a million clients do not come back together.
struct Backoff {
  private var failures = 0
  private var isAnswered = false
  private var lastFailure = Duration.zero
  private(set) var until: Duration?
  /// Whether the relay has named the time `until`, before which no request may be sent.
  private(set) var isAsked = false

  private static let longestSeconds = 300.0
  /// The shortest time from a failure to the next request, however urgent that request is. Only a
  /// sign-out does not wait.
  static let shortest = Duration.seconds(1)

  /// Notes that the relay has answered one request. The failures still count: if the same piece of
  /// work fails at its next request, the wait is longer than after the last failure.
  mutating func answered() { isAnswered = true }

  /// A piece of work has ended well. If the relay has answered a request, the failures are
  /// forgotten; work without a request shows nothing about the relay.
  mutating func ended() { if isAnswered { succeeded() } }

  /// Forgets the failures, because the relay works: the next failure counts as the first.
  mutating func succeeded() { self = Backoff() }

  /// Lets the next request pass at once.
  mutating func pass() { until = nil }

  /// Shortens the wait, because there is a sign that the next request may succeed: that request may
  /// be sent a second after the last failure. A time that the relay has named stays.
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
      // The wait is never shorter than the relay asks for.
      seconds = retryAfter / .seconds(1) * (1 + chance / 5)
      isAsked = true
    }
    let wait = Duration.milliseconds(Int64((seconds * 1_000).rounded()))
    until = now + wait
    return wait
  }
}
