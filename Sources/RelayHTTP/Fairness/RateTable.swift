import RelayCore

/// Token buckets, one a key: each holds so many tokens, is full at first, and gets as many anew in
/// every minute. A bucket is kept as the instant at which it is full again, so a full one needs no
/// entry.
///
/// Bounded: beyond `keysMax` the keys not heard of for longest are forgotten, and their buckets
/// are full again. Times are of the boot clock.
struct RateTable<Key: Hashable & Sendable>: Sendable {
  enum Answer: Hashable {
    case granted
    /// Enough tokens are there after this time.
    case refused(retryAfter: Span)
  }

  private static var microsecondsPerMinute: Int64 { 60_000_000 }

  private let perToken: Int64
  private let capacity: Int64
  private let keysMax: Int
  /// When each bucket is full again, in microseconds: keys heard of lately, and the others.
  private var recent: [Key: Int64] = [:]
  private var older: [Key: Int64] = [:]

  /// - Parameter perMinute: tokens a minute, and of a full bucket.
  init(perMinute: Int, keysMax: Int) {
    perToken = max(1, Self.microsecondsPerMinute / Int64(perMinute))
    capacity = perToken * Int64(perMinute)
    self.keysMax = max(2, keysMax)
  }

  var count: Int { recent.count + older.count }

  /// Takes so many tokens, or none. What is more than a full bucket takes a full one.
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

  /// Takes so many tokens, whether they are there or not: those that are missing are owed, and
  /// nothing is granted until then. At most a full bucket is owed.
  mutating func spend(_ tokens: Int, for key: Key, at now: Instant) {
    let now = now.milliseconds * 1_000
    let full = max(now, recent[key] ?? older[key] ?? 0)
    remember(key, min(full + perToken * Int64(tokens), now + 2 * capacity))
  }

  /// What taking so many tokens would be answered. Takes none.
  func look(_ tokens: Int = 1, for key: Key, at now: Instant) -> Answer {
    guard let full = recent[key] ?? older[key] else { return .granted }
    let next = full + min(capacity, perToken * Int64(tokens))
    let excess = next - now.milliseconds * 1_000 - capacity
    guard excess > 0 else { return .granted }
    return .refused(retryAfter: Span(milliseconds: (excess + 999) / 1_000))
  }

  /// Two generations: when the younger is half of what may be kept, the older one goes.
  private mutating func remember(_ key: Key, _ full: Int64) {
    older[key] = nil
    recent[key] = full
    guard recent.count >= keysMax / 2 else { return }
    older = recent
    recent = [:]
  }
}
