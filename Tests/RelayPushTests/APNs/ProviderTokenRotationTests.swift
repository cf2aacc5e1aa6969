import RelayCore
import Testing

@testable import RelayPush

@Suite struct ProviderTokenRotationTests {
  private func minute(_ count: Int64) -> Instant { .zero + .minutes(count) }

  /// The age counts from the first use, not from the making of the credential.
  @Test func `a token is signed when first used and renewed after 50 minutes`() {
    var rotation = ProviderTokenRotation()
    #expect(rotation.use(at: minute(100)) == .sign(1))
    rotation.signed(1, "", at: minute(100))
    #expect(rotation.use(at: minute(149)) == .keep(1))
    #expect(rotation.use(at: minute(150)) == .sign(2))
    rotation.signed(2, "", at: minute(150))
    #expect(rotation.use(at: minute(151)) == .keep(2))
  }

  @Test func `the rotation asks for a signature again after a failed one`() {
    var rotation = ProviderTokenRotation()
    #expect(rotation.use(at: minute(0)) == .sign(1))
    #expect(rotation.use(at: minute(1)) == .sign(1))
  }

  @Test func `the old token stays in use when the new one came too early`() {
    var rotation = ProviderTokenRotation()
    _ = rotation.use(at: minute(0))
    rotation.signed(1, "one", at: minute(0))
    _ = rotation.use(at: minute(50))
    rotation.signed(2, "two", at: minute(50))
    #expect(rotation.current?.text == "two" && rotation.known == ["one", "two"])
    rotation.tooSoon(2, at: minute(50))
    #expect(rotation.use(at: minute(51)) == .keep(1) && rotation.current?.text == "one")
    rotation.tooSoon(2, at: minute(51))
    #expect(rotation.use(at: minute(58)) == .keep(1))
    #expect(rotation.use(at: minute(59)) == .keep(2) && rotation.current?.text == "two")
    #expect(rotation.use(at: minute(60)) == .keep(2))
    #expect(rotation.use(at: minute(100)) == .sign(3))
    rotation.signed(3, "three", at: minute(100))
    #expect(rotation.known == ["two", "three"])
  }

  @Test func `the only token stays in use although it came too early`() {
    var rotation = ProviderTokenRotation()
    _ = rotation.use(at: minute(0))
    rotation.signed(1, "", at: minute(0))
    rotation.tooSoon(1, at: minute(0))
    #expect(rotation.use(at: minute(1)) == .keep(1))
  }

  @Test func `an expired token is replaced at the earliest 20 minutes after first use`() {
    var rotation = ProviderTokenRotation()
    _ = rotation.use(at: minute(0))
    rotation.signed(1, "", at: minute(0))
    #expect(rotation.expired(1, at: minute(19)) == .giveUp)
    #expect(rotation.use(at: minute(19)) == .keep(1))
    #expect(rotation.expired(1, at: minute(20)) == .again)
    #expect(rotation.use(at: minute(20)) == .sign(2))
    rotation.signed(2, "", at: minute(20))
    // Other pushes in flight with the old token get their answers late.
    #expect(rotation.expired(1, at: minute(21)) == .again)
    #expect(rotation.use(at: minute(21)) == .keep(2))
  }

  /// Apple refuses a token that was signed while the clock was ahead, so the token is replaced as
  /// soon as the clock is set back.
  @Test func `a clock set back by more than five minutes causes a new token at once`() {
    var rotation = ProviderTokenRotation()
    _ = rotation.use(at: minute(600))
    rotation.signed(1, "", at: minute(600))
    #expect(rotation.use(at: minute(594)) == .sign(2))
    #expect(rotation.use(at: minute(0)) == .sign(2), "nothing was signed yet")
    rotation.signed(2, "", at: minute(0))
    #expect(rotation.use(at: minute(49)) == .keep(2))
    #expect(rotation.use(at: minute(50)) == .sign(3))
    var kept = ProviderTokenRotation(kept: [.init(firstUse: minute(600), text: "")])
    #expect(kept.use(at: minute(594)) == .sign(2))
  }

  @Test func `small clock steps never cause a new token within 20 minutes`() {
    var rotation = ProviderTokenRotation(kept: [.init(firstUse: minute(100), text: "")])
    for step in [95, 101, 96, 119, 95, 104] {
      #expect(rotation.use(at: minute(Int64(step))) == .keep(1))
      #expect(rotation.expired(1, at: minute(Int64(step))) == .giveUp)
    }
  }

  /// Signs token 1 at minute `first` and token 2 at minute `second`, by a clock that is hours wrong
  /// at one of the two times.
  private func rotation(signing first: Int64, then second: Int64) -> ProviderTokenRotation {
    var rotation = ProviderTokenRotation()
    for (token, at) in [(1, first), (2, second)] {
      #expect(rotation.use(at: minute(at)) == .sign(token))
      rotation.signed(token, "", at: minute(at))
    }
    return rotation
  }

  @Test func `the rotation returns to the old token after the clock was ahead`() {
    var rotation = rotation(signing: 0, then: 300)
    #expect(rotation.use(at: minute(2)) == .keep(1))
    #expect(rotation.use(at: minute(50)) == .sign(3))
    rotation.signed(3, "", at: minute(50))
    #expect(rotation.use(at: minute(51)) == .keep(3))
  }

  @Test func `the rotation returns to the old token after the clock was behind`() {
    var rotation = rotation(signing: 600, then: 0)
    #expect(rotation.use(at: minute(1)) == .keep(2))
    #expect(rotation.use(at: minute(602)) == .keep(1))
    #expect(rotation.expired(1, at: minute(603)) == .giveUp, "the other one is no help")
    #expect(rotation.use(at: minute(650)) == .sign(3))
  }

  @Test func `an expired token with a time in the future is replaced`() {
    var rotation = ProviderTokenRotation()
    _ = rotation.use(at: minute(600))
    rotation.signed(1, "", at: minute(600))
    // The clock was set right while the answer was on its way.
    #expect(rotation.expired(1, at: minute(10)) == .again)
    #expect(rotation.use(at: minute(10)) == .sign(2))
  }
}
