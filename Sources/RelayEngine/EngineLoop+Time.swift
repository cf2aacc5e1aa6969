import Logging
import RelayCore

extension EngineLoop {
  /// How old the durable time may become while nothing is folded: a start reads its clock against
  /// it, and one that comes after a quiet weekend must not look like one after a long stop.
  static let timeKeptEvery = Span.minutes(10)

  /// The relay's time now. A wall clock that is far off is said once, and so is the end of that.
  mutating func readClock() -> Instant {
    let reading = clock.read(wall: outside.clock.wall(), boot: outside.clock.boot())
    relay.wallAhead = clock.wallAhead
    switch reading {
    case .steady: break
    case .jumped(_, let by):
      logger.warning(
        "wall clock far ahead", metadata: ["seconds": by.wholeSeconds, "followed": "after 1 h"])
    case .believed(_, let by):
      logger.notice(
        "wall clock followed: it was far ahead for 1 h", metadata: ["seconds": by.wholeSeconds])
    case .corrected: logger.notice("wall clock corrected: what was ahead is forgotten")
    }
    return reading.instant
  }

  /// A provider names a moment by its own clock.
  func inRelayTime(_ verdict: Verdict) -> Verdict {
    guard case .gone(let since?, let reason) = verdict else { return verdict }
    return .gone(at: clock.instant(ofWall: since), reason)
  }

  /// Something is to be folded: changes, or the time itself.
  func isFoldDue(at now: Instant) -> Bool {
    relay.isDirty(besides: stepping.torn) || now >= timeKept + Self.timeKeptEvery
      || isStoreToBeTried(at: now)
  }

  /// The store refused, and nothing that waits will try it again: the time is folded to learn
  /// whether there is room again.
  private func isStoreToBeTried(at now: Instant) -> Bool {
    tally.storeTrouble != nil && commit.isIdle && now >= tally.refusedAt + FoldSchedule.retry
  }

  /// Why people should look at the machine's clock.
  var clockTrouble: String? {
    guard let doubt = clock.doubt, let left = clock.believedIn else { return nil }
    return "the machine's clock is \(doubt.ahead.inWords) ahead of the time that the relay knew, "
      + "and not followed for now: nothing is trimmed and no budget refilled for it; if it is "
      + "wrong, set it right (timedatectl), which leaves no trace; if it is right, as after a long "
      + "stop, the relay follows it in \(left.inWords)"
  }
}

extension Span {
  fileprivate var wholeSeconds: Logger.MetadataValue { "\(milliseconds / 1_000)" }

  /// For people: in the largest unit of which there is at least one.
  fileprivate var inWords: String {
    for (name, unit) in [("d", Span.days(1)), ("h", .hours(1)), ("min", .minutes(1))]
    where self >= unit {
      return "\(milliseconds / unit.milliseconds) \(name)"
    }
    return "\(milliseconds / 1_000) s"
  }
}
