import RelayCore

/// When the keys behind a URL are fetched. Times are of the boot clock.
///
/// ```
/// start ─▶ due ─began─▶ under way ─arrived─▶ resting for the answer's age, 5 min to 24 h ─▶ due
///                          └─failed─▶ resting 5 s, doubled up to 5 min ─▶ due
/// resting ──a token names an unknown key, and the last try began a minute ago──▶ due
/// ```
struct KeySchedule: Sendable {
  /// However short an answer may be kept.
  static let ageMin = Span.minutes(5)
  static let ageMax = Span.hours(24)
  /// Where the answer does not say.
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

  /// - Parameter maxAge: what the answer says; nil: nothing.
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

  /// A token names a key that is not there.
  ///
  /// - Returns: true if a fetch is under way or comes at once, so that waiting is worth it.
  mutating func missed(at now: Instant) -> Bool {
    if isUnderWay || due <= now { return true }
    guard began.map({ now - $0 >= Self.unknownGap }) ?? true else { return false }
    due = now
    return true
  }
}
