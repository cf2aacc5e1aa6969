/// The relay's time: wall time that never goes back, carried by the boot clock.
///
/// ```
/// wall ahead by ≤ 1 h ─▶ followed at once
/// wall ahead by more  ─▶ in doubt: not followed until it has held for an hour of boot time
/// wall behind         ─▶ ignored: time goes on with the boot clock
/// ```
/// So a wrong clock neither fires every timer, trims what is young, nor refills budgets, and a
/// correction leaves no trace: nothing durable has learnt of it.
///
/// A start is read in the same way, against the time of the last fold: after a stop of more than an
/// hour the relay's time goes on from there, and follows the wall clock an hour later. Only a store
/// that has never known a time believes the wall clock at once: it has nothing to doubt it by.
///
/// What leaves the relay is told by the wall clock, and what comes in is turned into relay time:
/// see `wallAhead` and `instant(ofWall:)`.
package struct RelayClock: Sendable {
  /// The relay's time when it was last read.
  package private(set) var last: Instant
  private var boot: Instant
  private var wall: Instant
  /// The wall clock is far ahead, and not followed yet.
  package private(set) var doubt: Doubt?

  package static let jumpMax = Span.hours(1)
  package static let believedAfter = Span.hours(1)

  package struct Doubt: Hashable, Sendable {
    /// The boot clock when it began.
    package var since: Instant
    /// The relay's time then: what came before is as old as it seems.
    package var sureUntil: Instant
    /// How far the wall clock is ahead.
    package var ahead: Span
  }

  /// - Parameter latest: the durable maximum of an earlier life; `.zero` for a new store.
  package init(latest: Instant, wall: Instant, boot: Instant) {
    last = latest == .zero ? wall : latest
    self.wall = wall
    self.boot = boot
  }

  package enum Reading: Hashable, Sendable {
    case steady(Instant)
    /// The wall clock is far ahead; it is not followed for now. Said once a jump.
    case jumped(Instant, by: Span)
    /// It has held for an hour: it is followed.
    case believed(Instant, by: Span)
    /// It was set right before it was believed.
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

  /// Until the relay follows the wall clock, if it stays where it is.
  package var believedIn: Span? {
    doubt.map { max(.zero, $0.since + Self.believedAfter - boot) }
  }

  /// How far the wall clock is ahead of the relay's time; negative where it is behind. Whatever
  /// leaves the relay is told by the wall clock: the relay's instant and this.
  package var wallAhead: Span { wall - last }

  /// The relay's time of a moment that another machine's clock names.
  ///
  /// While the wall clock is in doubt, what came after the doubt began cannot be told from what
  /// came in the time that may have been left out: of two readings the earlier is taken.
  package func instant(ofWall moment: Instant) -> Instant {
    let shifted = moment + Span(milliseconds: -wallAhead.milliseconds)
    guard let doubt else { return shifted }
    return moment <= doubt.sureUntil ? moment : max(doubt.sureUntil, shifted)
  }
}

extension RelayClock.Doubt {
  /// A wall clock that is set to yet another time has to hold anew.
  fileprivate func isOf(_ ahead: Span) -> Bool {
    abs(ahead.milliseconds - self.ahead.milliseconds) <= RelayClock.jumpMax.milliseconds
  }
}
