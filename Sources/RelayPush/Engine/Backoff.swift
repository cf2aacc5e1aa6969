package import RelayCore

/// The time to wait before the next attempt to connect. It doubles after each failure, up to a
/// maximum. It is also partly random, so that relays which lost the provider at the same time do
/// not all reconnect at the same time.
package struct Backoff: Sendable {
  private let first: Span
  private let max: Span
  private var random: SplitMix64

  /// - Parameter seed: the caller gives it, so a transcript can be repeated.
  package init(first: Span, max: Span, seed: UInt64) {
    self.first = first
    self.max = max
    random = SplitMix64(seed: seed)
  }

  /// Returns zero if `failures` is 0. Otherwise returns a random time between half and the whole of
  /// `first · 2^(failures − 1)`, or of `max` if that is shorter.
  package mutating func delay(failures: Int) -> Span {
    guard failures > 0 else { return .zero }
    let doublings = Swift.min(failures - 1, 30)
    let whole = Swift.min(first * (Int64(1) << Int64(doublings)), max)
    let half = whole.milliseconds / 2
    return Span(milliseconds: whole.milliseconds - half + Int64(random.next() % UInt64(half + 1)))
  }
}
