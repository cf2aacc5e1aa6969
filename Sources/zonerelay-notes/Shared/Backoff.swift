import ZoneRelayClient

/// How long to wait after failures in a row: as long as the server asks, otherwise 1 s, doubled
/// with each failure; at most 5 min. Up to a fifth is added, so that callers do not return at once.
struct Backoff {
  private var seconds = 1
  private static let secondsMax = 300

  mutating func failed(_ answer: RelayAnswer?) -> Duration {
    let asked = answer?.headers["retry-after"].flatMap { Int($0) }
    let wait = min(max(asked ?? seconds, 1), Self.secondsMax)
    seconds = min(seconds * 2, Self.secondsMax)
    return .seconds(Double(wait) * .random(in: 1...1.2))
  }
}
