import RelayCore
import Testing

@Suite struct RelayClockTests {
  private func at(_ seconds: Int64) -> Instant { Instant(milliseconds: seconds * 1_000) }

  /// Time never goes back, and goes on with the boot clock while the wall clock is behind.
  @Test func aWallClockThatGoesBackIsIgnored() {
    var clock = RelayClock(latest: .zero, wall: at(10_000), boot: at(5))
    #expect(clock.read(wall: at(10_010), boot: at(15)) == .steady(at(10_010)))
    #expect(clock.read(wall: at(9_000), boot: at(20)) == .steady(at(10_015)))
    #expect(clock.read(wall: at(9_005), boot: at(25)) == .steady(at(10_020)))
  }

  /// What was durable in an earlier life is never undercut.
  @Test func theDurableMaximumHolds() {
    var clock = RelayClock(latest: at(50_000), wall: at(10_000), boot: at(0))
    #expect(clock.read(wall: at(10_001), boot: at(1)) == .steady(at(50_001)))
  }

  /// A small correction is followed; a jump ahead is said once and believed after an hour.
  @Test func aJumpAheadIsBelievedAfterAnHour() {
    var clock = RelayClock(latest: .zero, wall: at(10_000), boot: at(0))
    #expect(clock.read(wall: at(13_000), boot: at(1)) == .steady(at(13_000)))
    let jump = at(1_000_000)
    #expect(
      clock.read(wall: jump, boot: at(2))
        == .jumped(at(13_001), by: .seconds(1_000_000 - 13_001)))
    #expect(clock.read(wall: jump + .seconds(60), boot: at(62)) == .steady(at(13_061)))
    #expect(
      clock.read(wall: jump + .seconds(3_600), boot: at(3_602)) == .steady(jump + .seconds(3_600)))
  }

  /// A jump that was taken back leaves nothing behind.
  @Test func aJumpTakenBackIsForgotten() {
    var clock = RelayClock(latest: .zero, wall: at(10_000), boot: at(0))
    _ = clock.read(wall: at(1_000_000), boot: at(1))
    #expect(clock.read(wall: at(10_002), boot: at(2)) == .steady(at(10_002)))
    #expect(clock.read(wall: at(1_000_000), boot: at(3)).instant == at(10_003))
  }
}
