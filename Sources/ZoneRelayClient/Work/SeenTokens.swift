/// The tokens that one feed has given in one round. A token that comes again although more is
/// coming is a fault of the relay: the round would not end.
struct SeenTokens {
  private var seen: Set<String> = []

  /// - Returns: false if the feed has given the token before.
  mutating func advances(from held: String?, to token: String) -> Bool {
    if let held { seen.insert(held) }
    return seen.insert(token).inserted
  }
}
