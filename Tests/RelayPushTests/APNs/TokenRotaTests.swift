import RelayCore
import Testing

@testable import RelayPush

@Suite struct TokenRotaTests {
  private func minute(_ count: Int64) -> Instant { .zero + .minutes(count) }

  /// The age counts from the first use, not from the making of the credential.
  @Test func `a token is signed when first used and renewed after 50 minutes`() {
    var rota = TokenRota()
    #expect(rota.use(at: minute(100)) == .sign(1))
    rota.signed(1, at: minute(100))
    #expect(rota.use(at: minute(149)) == .keep(1))
    #expect(rota.use(at: minute(150)) == .sign(2))
    rota.signed(2, at: minute(150))
    #expect(rota.use(at: minute(151)) == .keep(2))
  }

  @Test func `a failed signature changes nothing`() {
    var rota = TokenRota()
    #expect(rota.use(at: minute(0)) == .sign(1))
    #expect(rota.use(at: minute(1)) == .sign(1))
  }

  @Test func `a new one that came too soon gives way to the old one as long as that lives`() {
    var rota = TokenRota()
    _ = rota.use(at: minute(0))
    rota.signed(1, at: minute(0))
    _ = rota.use(at: minute(50))
    rota.signed(2, at: minute(50))
    rota.tooSoon(2, at: minute(50))
    #expect(rota.use(at: minute(51)) == .keep(1))
    rota.tooSoon(2, at: minute(51))
    #expect(rota.use(at: minute(58)) == .keep(1))
    #expect(rota.use(at: minute(59)) == .keep(2))
    #expect(rota.use(at: minute(60)) == .keep(2))
    #expect(rota.use(at: minute(100)) == .sign(3))
  }

  @Test func `the only token stays, however soon it came`() {
    var rota = TokenRota()
    _ = rota.use(at: minute(0))
    rota.signed(1, at: minute(0))
    rota.tooSoon(1, at: minute(0))
    #expect(rota.use(at: minute(1)) == .keep(1))
  }

  @Test func `an expired token is replaced, but never within 20 minutes of its first use`() {
    var rota = TokenRota()
    _ = rota.use(at: minute(0))
    rota.signed(1, at: minute(0))
    #expect(rota.expired(1, at: minute(19)) == .giveUp)
    #expect(rota.use(at: minute(19)) == .keep(1))
    #expect(rota.expired(1, at: minute(20)) == .again)
    #expect(rota.use(at: minute(20)) == .sign(2))
    rota.signed(2, at: minute(20))
    // Others in flight with the old one learn of it late.
    #expect(rota.expired(1, at: minute(21)) == .again)
    #expect(rota.use(at: minute(21)) == .keep(2))
  }

  /// A clock that was ahead when it signed must not decide how long pushes are refused.
  @Test func `a clock set back by more than five minutes brings a new token at once`() {
    var rota = TokenRota()
    _ = rota.use(at: minute(600))
    rota.signed(1, at: minute(600))
    #expect(rota.use(at: minute(594)) == .sign(2))
    #expect(rota.use(at: minute(0)) == .sign(2), "nothing was signed yet")
    rota.signed(2, at: minute(0))
    #expect(rota.use(at: minute(49)) == .keep(2))
    #expect(rota.use(at: minute(50)) == .sign(3))
    var kept = TokenRota(keptSince: [minute(600)])
    #expect(kept.use(at: minute(594)) == .sign(2))
  }

  @Test func `small steps of the clock never bring a token within 20 minutes`() {
    var rota = TokenRota(keptSince: [minute(100)])
    for step in [95, 101, 96, 119, 95, 104] {
      #expect(rota.use(at: minute(Int64(step))) == .keep(1))
      #expect(rota.expired(1, at: minute(Int64(step))) == .giveUp)
    }
  }

  /// Signs a token in a minute, and another in a second, where the clock is wrong by hours.
  private func rota(signing first: Int64, then second: Int64) -> TokenRota {
    var rota = TokenRota()
    for (token, at) in [(1, first), (2, second)] {
      #expect(rota.use(at: minute(at)) == .sign(token))
      rota.signed(token, at: minute(at))
    }
    return rota
  }

  @Test func `a clock that was ahead for a moment leads back to the token before`() {
    var rota = rota(signing: 0, then: 300)
    #expect(rota.use(at: minute(2)) == .keep(1))
    #expect(rota.use(at: minute(50)) == .sign(3))
    rota.signed(3, at: minute(50))
    #expect(rota.use(at: minute(51)) == .keep(3))
  }

  @Test func `a clock that was behind for a moment leads back to the token before`() {
    var rota = rota(signing: 600, then: 0)
    #expect(rota.use(at: minute(1)) == .keep(2))
    #expect(rota.use(at: minute(602)) == .keep(1))
    #expect(rota.expired(1, at: minute(603)) == .giveUp, "the other one is no help")
    #expect(rota.use(at: minute(650)) == .sign(3))
  }

  @Test func `a token from ahead that has expired is replaced`() {
    var rota = TokenRota()
    _ = rota.use(at: minute(600))
    rota.signed(1, at: minute(600))
    // The clock was set right while the answer was on its way.
    #expect(rota.expired(1, at: minute(10)) == .again)
    #expect(rota.use(at: minute(10)) == .sign(2))
  }
}
