import RelayCore
import Testing

@Suite struct RelayClockTests {
  private func at(_ seconds: Int64) -> Instant { Instant(milliseconds: seconds * 1_000) }

  /// Time never goes back, and goes on with the boot clock while the wall clock is behind.
  @Test func `the relay clock ignores a wall clock that goes back`() {
    var clock = RelayClock(latest: .zero, wall: at(10_000), boot: at(5))
    #expect(clock.read(wall: at(10_010), boot: at(15)) == .steady(at(10_010)))
    #expect(clock.read(wall: at(9_000), boot: at(20)) == .steady(at(10_015)))
    #expect(clock.read(wall: at(9_005), boot: at(25)) == .steady(at(10_020)))
  }

  /// Time is never below the maximum that an earlier life made durable.
  @Test func `the relay clock never falls below the durable maximum`() {
    var clock = RelayClock(latest: at(50_000), wall: at(10_000), boot: at(0))
    #expect(clock.read(wall: at(10_001), boot: at(1)) == .steady(at(50_001)))
  }

  /// The clock follows a small correction. The clock reports a jump once and believes it after an
  /// hour.
  @Test func `the relay clock believes a jump ahead after an hour`() {
    var clock = RelayClock(latest: .zero, wall: at(10_000), boot: at(0))
    #expect(clock.read(wall: at(13_000), boot: at(1)) == .steady(at(13_000)))
    let jump = at(1_000_000)
    #expect(
      clock.read(wall: jump, boot: at(2))
        == .jumped(at(13_001), by: .seconds(1_000_000 - 13_001)))
    #expect(clock.read(wall: jump + .seconds(60), boot: at(62)) == .steady(at(13_061)))
    #expect(
      clock.read(wall: jump + .seconds(3_600), boot: at(3_602))
        == .believed(jump + .seconds(3_600), by: .seconds(1_000_000 - 13_001)))
    #expect(clock.doubt == nil)
  }

  /// A jump that is taken back ends the doubt at once.
  @Test func `the relay clock forgets a jump that is taken back`() {
    var clock = RelayClock(latest: .zero, wall: at(10_000), boot: at(0))
    _ = clock.read(wall: at(1_000_000), boot: at(1))
    #expect(clock.doubt != nil)
    #expect(clock.read(wall: at(10_002), boot: at(2)) == .corrected(at(10_002)))
    #expect(clock.doubt == nil, "the doubt ends with the correction, at once")
    #expect(clock.wallAhead == .zero)
    #expect(clock.read(wall: at(1_000_000), boot: at(3)).instant == at(10_003))
  }

  /// A clock in doubt that jumps to yet another time must hold that time for a whole hour.
  @Test func `a second jump during the doubt starts a new hour of doubt`() {
    var clock = RelayClock(latest: .zero, wall: at(10_000), boot: at(0))
    _ = clock.read(wall: at(1_000_000), boot: at(0))
    #expect(clock.read(wall: at(2_000_000), boot: at(3_599)).instant == at(13_599))
    #expect(clock.read(wall: at(2_000_001), boot: at(3_600)) == .steady(at(13_600)))
    #expect(clock.believedIn == .seconds(3_599))
    #expect(clock.read(wall: at(2_003_600), boot: at(7_199)).instant == at(2_003_600))
  }

  /// At a start the clock compares the wall clock with the durable maximum of the life before, and
  /// doubts a wall clock far ahead, as after a jump.
  @Test func `the relay clock doubts a start far ahead for an hour`() {
    let years = Span.days(20 * 365)
    var clock = RelayClock(latest: at(50_000), wall: at(50_000) + years, boot: at(7))
    #expect(clock.read(wall: at(50_000) + years, boot: at(7)) == .jumped(at(50_000), by: years))
    #expect(clock.wallAhead == years)
    #expect(clock.believedIn == .hours(1))
    #expect(
      clock.read(wall: at(53_599) + years, boot: at(3_606)) == .steady(at(53_599)))
    #expect(
      clock.read(wall: at(53_600) + years, boot: at(3_607))
        == .believed(at(53_600) + years, by: years))
  }

  /// After a correction within the hour there is no doubt, neither in this life nor in the next.
  @Test func `a corrected start leaves no doubt in this life or the next`() {
    let years = Span.days(20 * 365)
    var clock = RelayClock(latest: at(50_000), wall: at(50_060) + years, boot: at(0))
    _ = clock.read(wall: at(50_060) + years, boot: at(0))
    let last = clock.read(wall: at(50_120), boot: at(60))
    #expect(last == .corrected(at(50_120)))
    var next = RelayClock(latest: last.instant, wall: at(50_180), boot: at(120))
    #expect(next.read(wall: at(50_180), boot: at(120)) == .steady(at(50_180)))
  }

  /// After a short stop the clock follows the wall clock at once. A store without a durable time
  /// causes no doubt.
  @Test func `the relay clock follows a short stop and a first start at once`() {
    var clock = RelayClock(latest: at(50_000), wall: at(53_600), boot: at(0))
    #expect(clock.read(wall: at(53_600), boot: at(0)) == .steady(at(53_600)))
    clock = RelayClock(latest: .zero, wall: at(50_000), boot: at(0))
    #expect(clock.read(wall: at(50_000), boot: at(0)) == .steady(at(50_000)))
    #expect(clock.doubt == nil)
  }

  /// A provider dates the end of an address by wall-clock time, but the relay dates registrations
  /// by the relay's own time.
  @Test func `a wall-clock moment is converted to relay time`() {
    // The relay was stopped for two days. A moment before the stop stays as it is. A moment within
    // the stop becomes the relay's time at the first reading of the clock after the stop.
    let gap = Span.days(2)
    var clock = RelayClock(latest: at(500_000), wall: at(500_000) + gap, boot: at(0))
    _ = clock.read(wall: at(500_100) + gap, boot: at(100))
    #expect(clock.instant(ofWall: at(400_000)) == at(400_000))
    #expect(clock.instant(ofWall: at(500_000) + .days(1)) == at(500_100))
    #expect(clock.instant(ofWall: at(500_160) + gap) == at(500_160))
    // The wall clock was set back, so the relay's time is ahead of it. A wall-clock moment is
    // shifted by this difference.
    clock = RelayClock(latest: at(900_000), wall: at(500_000), boot: at(0))
    _ = clock.read(wall: at(500_010), boot: at(10))
    #expect(clock.instant(ofWall: at(500_005)) == at(900_005))
    #expect(clock.wallAhead == .seconds(-400_000))
  }
}
