/// The relay's time: wall time that never goes back, advanced by the boot clock.
///
/// ```
/// wall ahead by ≤ 1 h ─▶ followed at once
/// wall ahead by more  ─▶ in doubt: not followed until it has held for an hour of boot time
/// wall behind         ─▶ ignored: time goes on with the boot clock
/// ```
/// So a wrong clock does not fire every timer, trim young entries or refill budgets. After a
/// correction nothing is left of the wrong time, because nothing durable has used it.
///
/// At a start the wall clock is compared with the time of the last fold. After a stop of more than
/// an hour the relay's time continues from that fold, and follows the wall clock an hour later.
/// Only a store without any earlier time follows the wall clock at once, because there is no time
/// to compare the wall clock with.
///
/// Times that leave the relay are wall-clock times, and incoming times are converted to relay time:
/// see `wallAhead` and `instant(ofWall:)`.
package struct RelayClock: Sendable {
  /// The relay's time when it was last read.
  package private(set) var last: Instant
  private var boot: Instant
  private var wall: Instant
  /// Set while the wall clock is far ahead and not followed yet.
  package private(set) var doubt: Doubt?

  package static let jumpMax = Span.hours(1)
  package static let believedAfter = Span.hours(1)

  package struct Doubt: Hashable, Sendable {
    /// The boot clock when the latest jump of the wall clock was noticed.
    package var since: Instant
    /// The relay's time when the wall clock jumped; after several jumps, at the first of them.
    /// `instant(ofWall:)` returns a moment up to this time unchanged.
    package var sureUntil: Instant
    /// How far the wall clock is ahead.
    package var ahead: Span
  }

  /// - Parameter latest: the latest time that earlier lives made durable; `.zero` for a new store.
  package init(latest: Instant, wall: Instant, boot: Instant) {
    last = latest == .zero ? wall : latest
    self.wall = wall
    self.boot = boot
  }

  package enum Reading: Hashable, Sendable {
    case steady(Instant)
    /// The wall clock is far ahead, and is not followed for now. Returned once for each jump.
    case jumped(Instant, by: Span)
    /// The wall clock has stayed ahead for an hour, and is now followed.
    case believed(Instant, by: Span)
    /// The wall clock was corrected before it was followed.
    case corrected(Instant)

    package var instant: Instant {
      switch self {
      case .steady(let at), .jumped(let at, _), .believed(let at, _), .corrected(let at): at
      }
    }
  }

  package mutating func read(wall: Instant, boot now: Instant) -> Reading {
    last = last + max(.zero, now - boot)
    boot = max(boot, now)
    self.wall = wall
    let ahead = wall - last
    guard ahead > Self.jumpMax else {
      let hadDoubt = doubt.take() != nil
      if ahead > .zero { last = wall }
      return hadDoubt ? .corrected(last) : .steady(last)
    }
    guard let doubt, doubt.isOf(ahead) else {
      doubt = Doubt(since: boot, sureUntil: doubt?.sureUntil ?? last, ahead: ahead)
      return .jumped(last, by: ahead)
    }
    guard boot - doubt.since >= Self.believedAfter else { return .steady(last) }
    self.doubt = nil
    last = wall
    return .believed(last, by: ahead)
  }

  /// The time until the relay follows the wall clock, if the wall clock does not jump again.
  package var believedIn: Span? {
    doubt.map { max(.zero, $0.since + Self.believedAfter - boot) }
  }

  /// How far the wall clock is ahead of the relay's time; negative if it is behind. Times that
  /// leave the relay are the relay's instant plus this span.
  package var wallAhead: Span { wall - last }

  /// Converts a moment by another machine's clock to the relay's time.
  ///
  /// While the wall clock is in doubt, a moment after `sureUntil` has two possible relay times:
  /// with and without the jump. The earlier one is used.
  package func instant(ofWall moment: Instant) -> Instant {
    let shifted = moment + Span(milliseconds: -wallAhead.milliseconds)
    guard let doubt else { return shifted }
    return moment <= doubt.sureUntil ? moment : max(doubt.sureUntil, shifted)
  }
}

extension RelayClock.Doubt {
  /// Whether the wall clock still shows the same jump; another jump starts a new doubt.
  fileprivate func isOf(_ ahead: Span) -> Bool {
    abs(ahead.milliseconds - self.ahead.milliseconds) <= RelayClock.jumpMax.milliseconds
  }
}
