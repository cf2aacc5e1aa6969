import RelayCore

/// Token buckets, one for each key. A bucket is full at first, and an empty bucket is full again
/// after a minute. The table stores for each bucket the instant at which the bucket is full again,
/// so a full bucket needs no entry.
///
/// The table holds at most `keysMax` keys: it drops the keys unused for longest, and their buckets
/// count as full. Times are of the boot clock.
struct RateTable<Key: Hashable & Sendable>: Sendable {
  enum Answer: Hashable {
    case granted
    /// Enough tokens are available after this time.
    case refused(retryAfter: Span)
  }

  private static var microsecondsPerMinute: Int64 { 60_000_000 }

  private let perToken: Int64
  private let capacity: Int64
  private let keysMax: Int
  /// When each bucket is full again, in microseconds: `recent` has the keys used lately, `older`
  /// the others.
  private var recent: [Key: Int64] = [:]
  private var older: [Key: Int64] = [:]

  /// - Parameter perMinute: how many tokens a bucket gains in a minute; a full bucket has as many.
  init(perMinute: Int, keysMax: Int) {
    perToken = max(1, Self.microsecondsPerMinute / Int64(perMinute))
    capacity = perToken * Int64(perMinute)
    self.keysMax = max(2, keysMax)
  }

  var count: Int { recent.count + older.count }

  /// Takes all of the tokens, or none. A request for more than a full bucket takes a full bucket.
  mutating func take(_ tokens: Int = 1, for key: Key, at now: Instant) -> Answer {
    let (next, answer) = outcome(tokens, for: key, at: now)
    if answer == .granted { remember(key, next) }
    return answer
  }

  /// Takes the tokens even if there are too few. The missing tokens, at most a full bucket of them,
  /// become a debt, and `take` grants nothing until the bucket has gained the debt back.
  mutating func spend(_ tokens: Int, for key: Key, at now: Instant) {
    let now = now.milliseconds * 1_000
    let full = max(now, recent[key] ?? older[key] ?? 0)
    remember(key, min(full + perToken * Int64(tokens), now + 2 * capacity))
  }

  /// The answer that `take` would give. Takes no token.
  func look(_ tokens: Int = 1, for key: Key, at now: Instant) -> Answer {
    outcome(tokens, for: key, at: now).answer
  }

  /// When the bucket would be full again if the tokens were taken, and whether the bucket has that
  /// many tokens.
  private func outcome(
    _ tokens: Int, for key: Key, at now: Instant
  ) -> (next: Int64, answer: Answer) {
    let now = now.milliseconds * 1_000
    let next = max(now, recent[key] ?? older[key] ?? 0) + min(capacity, perToken * Int64(tokens))
    let excess = next - now - capacity
    guard excess > 0 else { return (next, .granted) }
    return (next, .refused(retryAfter: Span(milliseconds: (excess + 999) / 1_000)))
  }

  /// Stores a key's bucket in `recent`. When `recent` holds half of `keysMax`, its keys replace
  /// those of `older`.
  private mutating func remember(_ key: Key, _ full: Int64) {
    older[key] = nil
    recent[key] = full
    guard recent.count >= keysMax / 2 else { return }
    older = recent
    recent = [:]
  }
}
