import RelayCore
import Testing

@testable import RelayPush

@Suite struct AccessTokensTests {
  private static let now = Instant(milliseconds: 1_700_000_000_000)

  @Test func `an access token is fetched once and used until 5 minutes before its end`() {
    var tokens = AccessTokens()
    #expect(tokens.use(at: Self.now) == .fetch)
    #expect(tokens.use(at: Self.now) == .wait)
    let first = tokens.fetched("a", lives: .hours(1), at: Self.now)
    #expect(tokens.use(at: Self.now) == .use(first))
    #expect(tokens.use(at: Self.now + .minutes(55) - Span(milliseconds: 1)) == .use(first))
    #expect(tokens.use(at: Self.now + .minutes(55)) == .fetch)
    #expect(tokens.use(at: Self.now + .minutes(55)) == .wait)
    let second = tokens.fetched("b", lives: .hours(1), at: Self.now + .minutes(55))
    #expect(second.serial == first.serial + 1)
  }

  @Test func `a short-lived access token is used for half its lifetime`() {
    var tokens = AccessTokens()
    _ = tokens.use(at: Self.now)
    let token = tokens.fetched("a", lives: .minutes(4), at: Self.now)
    #expect(tokens.use(at: Self.now + .seconds(119)) == .use(token))
    #expect(tokens.use(at: Self.now + .seconds(120)) == .fetch)
  }

  @Test func `the next caller fetches the access token again after a failure`() {
    var tokens = AccessTokens()
    _ = tokens.use(at: Self.now)
    tokens.failed()
    #expect(tokens.use(at: Self.now) == .fetch)
  }

  @Test func `an access token that is refused several times is replaced once`() {
    var tokens = AccessTokens()
    _ = tokens.use(at: Self.now)
    let first = tokens.fetched("a", lives: .hours(1), at: Self.now)
    tokens.refused(first)
    #expect(tokens.use(at: Self.now) == .fetch)
    tokens.refused(first)
    #expect(tokens.use(at: Self.now) == .wait)
    let second = tokens.fetched("b", lives: .hours(1), at: Self.now)
    tokens.refused(first)
    #expect(tokens.use(at: Self.now) == .use(second))
  }
}
