package import RelayCore

/// Decides which access token a push uses. A token is used until five minutes before its end. Only
/// one fetch runs at a time, and a new token is fetched when the provider refuses the current one.
package struct AccessTokens: Sendable {
  private var state = State.none
  private var lastSerial = 0

  private enum State: Equatable {
    /// There is no token. The next `use` begins a fetch.
    case none
    /// A fetch is running. `fetched` or `failed` ends it.
    case fetching
    /// The token is used until its time is over or the provider refuses it.
    case good(Token, until: Instant)
  }

  package struct Token: Hashable, Sendable {
    package var serial: Int
    package var text: String
  }

  package enum UseAction: Equatable {
    case use(Token)
    /// Fetch a token, then call `fetched` or `failed`.
    case fetch
    /// Another caller's fetch is running.
    case wait
  }

  /// The last part of a token's life, in which the token is not used, so that no token expires
  /// during a request.
  package static let margin = Span.minutes(5)

  package init() {}

  package mutating func use(at now: Instant) -> UseAction {
    switch state {
    case .good(let token, let until) where now < until: return .use(token)
    case .fetching: return .wait
    case .good, .none:
      state = .fetching
      return .fetch
    }
  }

  package mutating func fetched(_ text: String, lives: Span, at now: Instant) -> Token {
    lastSerial += 1
    // A token that is valid for no longer than twice the margin is used for half of its time.
    let used = max(
      lives.milliseconds - Self.margin.milliseconds, lives.milliseconds / 2)
    let until = now + Span(milliseconds: used)
    let token = Token(serial: lastSerial, text: text)
    state = .good(token, until: until)
    return token
  }

  package mutating func failed() { state = .none }

  /// The provider refused this token before its end.
  package mutating func refused(_ token: Token) {
    guard case .good(let current, _) = state, current.serial == token.serial else { return }
    state = .none
  }
}
