/// What a round remembers of one feed.
struct FeedReading {
  private var expiries = 0
  private var seen: Set<String> = []

  /// How often a token of one feed may expire in a round. More would be a fault of the relay.
  private static let expiriesMax = 3

  /// The feed's token has expired, so that the feed is read anew.
  ///
  /// - Returns: false if this has happened too often.
  mutating func expires() -> Bool {
    (expiries, seen) = (expiries + 1, [])
    return expiries <= Self.expiriesMax
  }

  /// The feed has given a token. If the feed gives a token again although more is coming, the relay
  /// has a fault: the round would not end.
  ///
  /// - Returns: false if the feed has given the token before.
  mutating func advances(from held: String?, to token: String) -> Bool {
    if let held { seen.insert(held) }
    return seen.insert(token).inserted
  }
}
