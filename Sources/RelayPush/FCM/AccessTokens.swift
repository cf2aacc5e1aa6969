package import RelayCore

/// Which access token to use when: one for its life less a margin, one request for the next at a
/// time, and a new one when the provider refuses it.
package struct AccessTokens: Sendable {
  private var state = State.none
  private var lastSerial = 0

  private enum State: Equatable {
    /// Exits: `use` begins a fetch.
    case none
    /// Exits: `fetched` or `failed`.
    case fetching
    /// Exits: its time is over, or it is refused.
    case good(serial: Int, text: String, until: Instant)
  }

  package struct Token: Hashable, Sendable {
    package var serial: Int
    package var text: String
  }

  package enum UseAction: Equatable {
    case use(Token)
    /// Ask for one, then say `fetched` or `failed`.
    case fetch
    /// Somebody has asked already.
    case wait
  }

  /// Before a token's end it counts as ended, so that none expires on its way.
  package static let margin = Span.minutes(5)

  package init() {}

  package mutating func use(at now: Instant) -> UseAction {
    switch state {
    case .good(let serial, let text, let until) where now < until:
      return .use(Token(serial: serial, text: text))
    case .fetching: return .wait
    case .good, .none:
      state = .fetching
      return .fetch
    }
  }

  package mutating func fetched(_ text: String, lives: Span, at now: Instant) -> Token {
    lastSerial += 1
    // One that lives no longer than the margin is used for half of its life.
    let used = max(
      lives.milliseconds - Self.margin.milliseconds, lives.milliseconds / 2)
    let until = now + Span(milliseconds: used)
    state = .good(serial: lastSerial, text: text, until: until)
    return Token(serial: lastSerial, text: text)
  }

  package mutating func failed() { state = .none }

  /// The provider says that this token is not good, though its time is not over.
  package mutating func refused(_ token: Token) {
    guard case .good(token.serial, _, _) = state else { return }
    state = .none
  }
}
