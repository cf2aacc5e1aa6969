/// When to trim: as often as configured, and sooner while a backlog is left. A fold always comes
/// between two trims, because readers and answers wait for folds.
struct TrimSchedule: Sendable {
  private var next: Instant
  private var isFoldNext = false

  init(first: Instant) { next = first }

  func isDue(at now: Instant) -> Bool { now >= next && !isFoldNext }

  mutating func began(at now: Instant, every: Span) {
    isFoldNext = true
    next = now + every
  }

  /// A cut was taken.
  mutating func folds() { isFoldNext = false }

  /// - Parameter hasMore: the trim removed as many rows as one trim may, so more rows may be left.
  mutating func ended(at now: Instant, hasMore: Bool) { if hasMore { next = now } }

  /// The configuration was reloaded.
  mutating func reconfigured(every: Span, at now: Instant) { next = min(next, now + every) }
}
