package import RelayCore

/// Which provider token to use when. Apple refuses tokens older than an hour, and new ones that
/// come sooner than 20 minutes after another of the same team; a token that was never sent counts
/// for neither, so it is made when it is first used.
package struct ProviderTokenRotation: Sendable {
  private var current: Token?
  /// The one before `current`, or, after Apple refused it as too soon, the one after. One that the
  /// clock makes no sense of is not forgotten for that: the clock may be set right.
  private var other: Token?
  private var lastSerial = 0

  package struct Token: Hashable, Sendable {
    package var serial: Int
    package var firstUse: Instant

    func isAhead(of now: Instant) -> Bool { firstUse > now + ProviderTokenRotation.clockStepMax }

    /// It need not be renewed.
    func isFresh(at now: Instant) -> Bool {
      !isAhead(of: now) && now - firstUse < ProviderTokenRotation.refreshAfter
    }
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

  /// Goes on with the last two tokens of earlier lives of the daemon, unless the first `use` finds
  /// them to be of a clock that was wrong.
  ///
  /// - Parameter firstUses: the newest last. Their serials count from 1.
  package init(keptSince firstUses: [Instant]) {
    let tokens = firstUses.enumerated().map { Token(serial: $0 + 1, firstUse: $1) }
    (current, other) = (tokens.last, tokens.dropLast().last)
    lastSerial = tokens.count
  }

  /// What a later life goes on with: the newest last.
  package var tokens: [Token] { [other, current].compactMap { $0 } }

  package mutating func use(at now: Instant) -> UseAction {
    if let token = current {
      if token.isFresh(at: now) { return .keep(token.serial) }
      if let next = other, next.serial > token.serial, next.isFresh(at: now),
        !token.isAhead(of: now)
      {
        // The refused newer one waits until this one is too old.
        if now - token.firstUse < Self.lifetime { return .keep(token.serial) }
        (current, other) = (next, nil)
        return .keep(next.serial)
      }
    }
    // The clock was wrong under `current`, and is right again, or the other way round. The one
    // before is gone back to, so that Apple sees no update too many.
    if let before = other, before.isFresh(at: now) {
      (current, other) = (before, current)
      return .keep(before.serial)
    }
    return .sign(lastSerial + 1)
  }

  package mutating func signed(_ serial: Int, at now: Instant) {
    lastSerial = serial
    (current, other) = (Token(serial: serial, firstUse: now), current ?? other)
  }

  package func remembers(_ serial: Int) -> Bool {
    current?.serial == serial || other?.serial == serial
  }

  /// Apple says it has expired.
  package mutating func expired(_ serial: Int, at now: Instant) -> ExpiredAction {
    guard let token = current, token.serial == serial else { return .again }
    if let next = other, next.serial > serial, next.isFresh(at: now) {
      (current, other) = (next, nil)
      return .again
    }
    // A token that is young and yet expired means that a clock is wrong: a new one would only be
    // refused as too soon. Unless the clock has been set right since: then it must be tried.
    guard token.isAhead(of: now) || now - token.firstUse >= Self.updateGap else { return .giveUp }
    current = nil
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
