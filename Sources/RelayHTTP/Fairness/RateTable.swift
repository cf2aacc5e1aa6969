import RelayCore

/// Token buckets, one for each key. A bucket is full at first and gains as many tokens a minute as
/// it holds. A bucket is kept as the instant at which it is full again, so a full one needs no
/// entry.
///
/// Bounded: beyond `keysMax` the keys unused for longest are forgotten, and their buckets are full
/// again. Times are of the boot clock.
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

  /// - Parameter perMinute: tokens gained a minute, and tokens of a full bucket.
  init(perMinute: Int, keysMax: Int) {
    perToken = max(1, Self.microsecondsPerMinute / Int64(perMinute))
    capacity = perToken * Int64(perMinute)
    self.keysMax = max(2, keysMax)
  }

  var count: Int { recent.count + older.count }

  /// Takes all of the tokens, or none. A request for more than a full bucket takes a full one.
  mutating func take(_ tokens: Int = 1, for key: Key, at now: Instant) -> Answer {
    let now = now.milliseconds * 1_000
    let full = max(now, recent[key] ?? older[key] ?? 0)
    let next = full + min(capacity, perToken * Int64(tokens))
    let excess = next - now - capacity
    guard excess <= 0 else {
      return .refused(retryAfter: Span(milliseconds: (excess + 999) / 1_000))
    }
    remember(key, next)
    return .granted
  }

  /// Takes the tokens even if there are too few. The missing ones are owed, at most a full bucket,
  /// and nothing is granted until they are repaid.
  mutating func spend(_ tokens: Int, for key: Key, at now: Instant) {
    let now = now.milliseconds * 1_000
    let full = max(now, recent[key] ?? older[key] ?? 0)
    remember(key, min(full + perToken * Int64(tokens), now + 2 * capacity))
  }

  /// The answer that `take` would give. Takes no token.
  func look(_ tokens: Int = 1, for key: Key, at now: Instant) -> Answer {
    guard let full = recent[key] ?? older[key] else { return .granted }
    let next = full + min(capacity, perToken * Int64(tokens))
    let excess = next - now.milliseconds * 1_000 - capacity
    guard excess > 0 else { return .granted }
    return .refused(retryAfter: Span(milliseconds: (excess + 999) / 1_000))
  }

  /// Keeps two generations. When the younger has half of `keysMax`, the older one is dropped.
  private mutating func remember(_ key: Key, _ full: Int64) {
    older[key] = nil
    recent[key] = full
    guard recent.count >= keysMax / 2 else { return }
    older = recent
    recent = [:]
  }
}
