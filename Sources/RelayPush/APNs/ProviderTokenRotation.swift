package import RelayCore

/// Decides which provider token a push uses. Apple refuses tokens older than an hour, and new
/// tokens that come sooner than 20 minutes after another of the same team. A token is signed only
/// when it is first used, so that both times count from its first use.
package struct ProviderTokenRotation: Sendable {
  package private(set) var current: Token?
  /// The token before `current`. After Apple has refused a new token as too soon, this is that new
  /// token. A token whose time does not fit the clock stays here, because the clock may be set
  /// right.
  private var other: Token?
  private var lastSerial = 0
  /// The texts of the tokens that were remembered when the newest token was signed. A token that
  /// Apple calls expired stays in this set until the next token is signed.
  package private(set) var known: Set<String> = []

  package struct Token: Hashable, Sendable {
    package var serial: Int
    package var firstUse: Instant
    package var text: String

    func isAhead(of now: Instant) -> Bool { firstUse > now + ProviderTokenRotation.clockStepMax }

    /// True if the token need not be renewed.
    func isFresh(at now: Instant) -> Bool {
      !isAhead(of: now) && now - firstUse < ProviderTokenRotation.refreshAfter
    }
  }

  /// The age at which a token is renewed. Apple's limit is 60 minutes; the margin allows for
  /// differing clocks.
  package static let refreshAfter = Span.minutes(50)
  package static let lifetime = Span.minutes(59)
  package static let updateGap = Span.minutes(20)
  /// How far ahead of the clock a token's time may be. A token from further ahead was signed while
  /// the clock was wrong: Apple would refuse it until the clock reaches its time.
  package static let clockStepMax = Span.minutes(5)

  package enum UseAction: Equatable {
    /// Use `current`, which has this serial.
    case keep(Int)
    /// Sign a token, then call `signed`. If signing fails, nothing has changed.
    case sign(Int)
  }

  package enum ExpiredAction: Equatable {
    /// The next `use` returns another token.
    case again
    /// The next `use` would return the same token.
    case giveUp
  }

  package init() {}

  /// Continues with the last two tokens of earlier runs of the daemon, unless the first `use` finds
  /// that they are too old, or were signed while the clock was wrong.
  ///
  /// - Parameter kept: the tokens, the newest last. Their serials count from 1.
  init(kept: [PersistedProviderToken]) {
    let tokens = kept.enumerated().map {
      Token(serial: $0 + 1, firstUse: $1.firstUse, text: $1.text)
    }
    (current, other) = (tokens.last, tokens.dropLast().last)
    lastSerial = tokens.count
    known = Set(self.tokens.map(\.text))
  }

  /// The remembered tokens, which are kept for a later run of the daemon. Right after `signed`, the
  /// newest token is last.
  package var tokens: [Token] { [other, current].compactMap { $0 } }

  package mutating func use(at now: Instant) -> UseAction {
    if let token = current {
      if token.isFresh(at: now) { return .keep(token.serial) }
      if let next = other, next.serial > token.serial, next.isFresh(at: now),
        !token.isAhead(of: now)
      {
        // The newer token was refused as too soon, so it is not used until `token` is too old.
        if now - token.firstUse < Self.lifetime { return .keep(token.serial) }
        (current, other) = (next, nil)
        return .keep(next.serial)
      }
    }
    // The clock was wrong when `current` was signed, or the clock is wrong now, or Apple called
    // `current` expired. Use `other` again, because Apple may refuse a new token as too soon.
    if let before = other, before.isFresh(at: now) {
      (current, other) = (before, current)
      return .keep(before.serial)
    }
    return .sign(lastSerial + 1)
  }

  package mutating func signed(_ serial: Int, _ text: String, at now: Instant) {
    lastSerial = serial
    (current, other) = (Token(serial: serial, firstUse: now, text: text), current ?? other)
    known = Set(tokens.map(\.text))
  }

  /// Apple answered that the token has expired.
  package mutating func expired(_ serial: Int, at now: Instant) -> ExpiredAction {
    guard let token = current, token.serial == serial else { return .again }
    if let next = other, next.serial > serial, next.isFresh(at: now) {
      (current, other) = (next, nil)
      return .again
    }
    // If Apple calls a young token expired, a clock is wrong, and Apple would refuse a new token as
    // too soon. If our clock has been set right since, a new token must be tried.
    guard token.isAhead(of: now) || now - token.firstUse >= Self.updateGap else { return .giveUp }
    current = nil
    return .again
  }

  /// Apple answered that the token came too soon: from now on the old token is used while it is
  /// valid, and after that the refused token.
  package mutating func tooSoon(_ serial: Int, at now: Instant) {
    guard let token = current, token.serial == serial, let old = other, old.serial < serial,
      now - old.firstUse < Self.lifetime
    else { return }
    (current, other) = (old, token)
  }
}
