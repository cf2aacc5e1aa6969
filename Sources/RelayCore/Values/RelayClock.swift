/// The relay's time: wall time that never goes back, carried by the boot clock.
///
/// ```
/// wall ahead by ≤ 1 h ─▶ followed at once
/// wall ahead by more  ─▶ not believed until it has held for an hour of boot time
/// wall behind         ─▶ ignored: time goes on with the boot clock
/// ```
/// So a jump neither fires every timer, trims what is young, nor refills budgets (relay.md 10).
package struct RelayClock: Sendable {
  private var last: Instant
  private var boot: Instant
  private var suspectSince: Instant?

  package static let jumpMax = Span.hours(1)
  package static let believedAfter = Span.hours(1)

  /// - Parameter latest: the durable maximum of an earlier life; `.zero` for a new store.
  package init(latest: Instant, wall: Instant, boot: Instant) {
    last = max(latest, wall)
    self.boot = boot
  }

  package enum Reading: Hashable, Sendable {
    case steady(Instant)
    /// The wall clock jumped ahead; it is not followed for now. Said once a jump.
    case jumped(Instant, by: Span)

    package var instant: Instant {
      switch self {
      case .steady(let at), .jumped(let at, _): at
      }
    }
  }

  package mutating func read(wall: Instant, boot now: Instant) -> Reading {
    let expected = last + max(.zero, now - boot)
    boot = max(boot, now)
    last = expected
    guard wall > expected else {
      suspectSince = nil
      return .steady(expected)
    }
    let ahead = wall - expected
    if ahead <= Self.jumpMax {
      suspectSince = nil
      last = wall
      return .steady(wall)
    }
    guard let since = suspectSince else {
      suspectSince = now
      return .jumped(expected, by: ahead)
    }
    if now - since >= Self.believedAfter {
      suspectSince = nil
      last = wall
      return .steady(wall)
    }
    return .steady(expected)
  }
}
