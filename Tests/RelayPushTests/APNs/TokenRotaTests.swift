import RelayCore
import Testing

@testable import RelayPush

@Suite struct TokenRotaTests {
  private func minute(_ count: Int64) -> Instant { .zero + .minutes(count) }

  /// L9: the age counts from the first use, not from the making of the credential.
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
}
