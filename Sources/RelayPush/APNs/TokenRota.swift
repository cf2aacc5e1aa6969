package import RelayCore

/// Which provider token to use when. Apple refuses tokens older than an hour, and new ones that
/// come sooner than 20 minutes after another of the same team; a token that was never sent counts
/// for neither, so it is made when it is first used.
package struct TokenRota: Sendable {
  private var current: Token?
  /// The one before `current`, or, after Apple refused it as too soon, the one after.
  private var other: Token?
  private var lastSerial = 0

  private struct Token: Equatable {
    var serial: Int
    var firstUse: Instant

    func isAhead(of now: Instant) -> Bool { firstUse > now + TokenRota.clockStepMax }
  }

  /// Apple's limit is 60 minutes; clocks differ.
  package static let refreshAfter = Span.minutes(50)
  package static let lifetime = Span.minutes(59)
  package static let updateGap = Span.minutes(20)
  /// How far a clock may be set back under a token. One from further ahead was signed by a clock
  /// that was wrong: kept until the clock is there, it would be refused all the while.
  package static let clockStepMax = Span.minutes(5)

  package enum UseAction: Equatable {
    case keep(Int)
    /// Sign one, then say `signed`. If signing fails, nothing has changed.
    case sign(Int)
  }

  package enum ExpiredAction: Equatable {
    /// The next use brings another token.
    case again
    /// It would bring the same one.
    case giveUp
  }

  package init() {}

  /// Goes on with a token of an earlier life of the daemon, unless the first `use` finds it to be
  /// of a clock that was ahead. It has serial 1.
  package init(keptSince firstUse: Instant) {
    current = Token(serial: 1, firstUse: firstUse)
    lastSerial = 1
  }

  package mutating func use(at now: Instant) -> UseAction {
    guard let token = current else { return .sign(lastSerial + 1) }
    if token.isAhead(of: now) {
      // The one before may be from when the clock was right: so Apple sees no update too many.
      (current, other) = (other, nil)
      return use(at: now)
    }
    let age = now - token.firstUse
    if age < Self.refreshAfter { return .keep(token.serial) }
    if let next = other, next.serial > token.serial {
      // The refused newer one waits until this one is too old.
      if age < Self.lifetime { return .keep(token.serial) }
      (current, other) = (next, nil)
      return use(at: now)
    }
    return .sign(lastSerial + 1)
  }

  package mutating func signed(_ serial: Int, at now: Instant) {
    lastSerial = serial
    (current, other) = (Token(serial: serial, firstUse: now), current)
  }

  package func remembers(_ serial: Int) -> Bool {
    current?.serial == serial || other?.serial == serial
  }

  /// Apple says it has expired.
  package mutating func expired(_ serial: Int, at now: Instant) -> ExpiredAction {
    guard let token = current, token.serial == serial else { return .again }
    if let next = other, next.serial > serial {
      (current, other) = (next, nil)
      return .again
    }
    // A token that is young and yet expired means that a clock is wrong: a new one would only be
    // refused as too soon. Unless the clock has been set right since: then it must be tried.
    guard token.isAhead(of: now) || now - token.firstUse >= Self.updateGap else { return .giveUp }
    (current, other) = (nil, nil)
    return .again
  }

  /// Apple says it came too soon: the old one stays in use as long as it lives, then this one.
  package mutating func tooSoon(_ serial: Int, at now: Instant) {
    guard let token = current, token.serial == serial, let old = other, old.serial < serial,
      now - old.firstUse < Self.lifetime
    else { return }
    (current, other) = (old, token)
  }
}
