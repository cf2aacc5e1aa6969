import RelayCore

/// When the keys behind a URL are fetched. Times are of the boot clock.
///
/// ```
/// start ─▶ due ─began─▶ under way ─arrived─▶ resting for the answer's age, 5 min to 24 h ─▶ due
///                          └─failed─▶ resting 5 s, doubled up to 5 min ─▶ due
/// resting ──a token names an unknown key, and the last try began at least a minute ago──▶ due
/// ```
struct KeySchedule: Sendable {
  /// The shortest time for which fetched keys are kept, even if the answer allows less. Only a
  /// token that names an unknown key makes the next fetch due earlier.
  static let ageMin = Span.minutes(5)
  static let ageMax = Span.hours(24)
  /// The age for an answer that does not state one.
  static let ageStandard = Span.hours(1)
  static let unknownGap = Span.minutes(1)
  static let retryFirst = Span.seconds(5)
  static let retryMax = Span.minutes(5)

  private(set) var isUnderWay = false
  private(set) var due: Instant
  private var began: Instant?
  private var failures = 0

  init(at now: Instant) { due = now }

  func isDue(at now: Instant) -> Bool { !isUnderWay && due <= now }

  mutating func begin(at now: Instant) {
    isUnderWay = true
    began = now
  }

  /// - Parameter maxAge: the age that the answer states; `nil` means that the answer states no age.
  mutating func arrived(maxAge: Span?, at now: Instant) {
    isUnderWay = false
    failures = 0
    due = now + min(max(maxAge ?? Self.ageStandard, Self.ageMin), Self.ageMax)
  }

  mutating func failed(at now: Instant) {
    isUnderWay = false
    due = now + min(Self.retryFirst * (1 << Int64(min(failures, 10))), Self.retryMax)
    failures += 1
  }

  /// Notes that a token names a key which is not in the set. The next fetch is then due at once, if
  /// the last fetch began at least `unknownGap` ago.
  ///
  /// - Returns: true if a fetch is under way or due at once; the caller should then wait for the
  ///   fetch.
  mutating func missed(at now: Instant) -> Bool {
    if isUnderWay || due <= now { return true }
    guard began.map({ now - $0 >= Self.unknownGap }) ?? true else { return false }
    due = now
    return true
  }
}
