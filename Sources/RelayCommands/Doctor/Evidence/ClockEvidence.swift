import RelayCore

/// The machine's clock, compared with the time that the relay knows.
struct ClockEvidence: Sendable {
  var wall: Instant
  /// The relay's time at its last fold; nil if there is no store, or none that can be read.
  var relayTime: Instant?
  /// True if the daemon runs: a running daemon compares the clock itself, and its status says what
  /// is wrong.
  var isRunning: Bool

  /// The beginning of 2025. This version was made later, so a clock that shows an earlier time was
  /// never set.
  static let earliest = Instant(milliseconds: 1_735_689_600_000)
  /// A clock that is behind the relay's time by less than this is not reported, because the relay's
  /// time goes on without it.
  static let behindMax = Span.minutes(1)

  var finding: Finding {
    let subject = "the machine's clock"
    let shown = HumanFormat.moment(wall.milliseconds)
    guard wall >= Self.earliest else {
      return .found(.clockUnset, subject, cause: "it shows \(shown)")
    }
    guard let relayTime else {
      return .passed(
        .clock, subject, "it shows \(shown); no time of the relay is known to compare it with")
    }
    let ahead = wall - relayTime
    let cause =
      "it shows \(shown), and the relay knew \(HumanFormat.moment(relayTime.milliseconds))"
    if ahead < .zero, relayTime - wall > Self.behindMax {
      return .found(.clockBehind, subject, cause: cause)
    }
    if !isRunning, ahead > RelayClock.jumpMax { return .found(.clockAhead, subject, cause: cause) }
    return .passed(.clock, subject, "it shows \(shown), and the relay's time agrees")
  }
}

/// The machine's two clocks at the beginning and at the end of the doctor's work.
struct ClockRun: Sendable {
  /// How far the wall clock went on.
  var wall: Span
  /// How far the boot clock went on. The boot clock counts from the boot of the machine and is
  /// never set.
  var boot: Span

  /// A difference up to this is not reported: the two clocks are not read at the same moment.
  static let differenceMax = Span.seconds(1)

  var findings: [Finding] {
    let jump = abs(wall.milliseconds - boot.milliseconds)
    guard jump > Self.differenceMax.milliseconds else { return [] }
    let cause =
      "it went on by \(wall.milliseconds) ms while \(boot.milliseconds) ms passed since the boot"
    return [.found(.clockJumped, "the machine's clock", cause: cause)]
  }
}

/// The time of a server's clock, from the `Date` of its answer, and the time of this machine's
/// clock at that moment.
struct ServerTime: Sendable {
  var server: String
  var time: Instant
  var own: Instant

  /// The largest difference that is not reported: the relay tolerates the same with users' tokens.
  /// The header `Date` is exact enough for this bound: it has whole seconds, and the server wrote
  /// it a moment ago.
  static let differenceMax = Span.seconds(60)

  var findings: [Finding] {
    let difference = (own - time).milliseconds
    guard abs(difference) > Self.differenceMax.milliseconds else { return [] }
    let side = difference > 0 ? "ahead of" : "behind"
    return [
      .found(
        .clockDiffers, server,
        cause: "ours is \(abs(difference) / 1_000) s \(side) that of \(server)")
    ]
  }
}
