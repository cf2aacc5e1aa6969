import RelayCore
import Testing

/// Which devices count as silent, wake by wake.
@Suite struct SilenceTests {
  /// The lane of a device that has acknowledged a change, with the default ladder.
  private func acknowledging() -> LaneRig {
    var rig = LaneRig()
    rig.lane.registered(withProvider: true)
    rig.zone(0)
    rig.wake()
    rig.delivered()
    rig.fetched(zone: 0)
    return rig
  }

  /// Delivers the next wake, and returns the silence that is reported with it. `nil` means that no
  /// silence is reported.
  private func wake(_ rig: inout LaneRig, ladder: Bool = true) -> Silence? {
    let attempt = rig.wake()
    #expect(attempt?.isLadder == ladder)
    return rig.lane.delivered(at: rig.now, policy: rig.policy, ledger: &rig.ledger)
  }

  @Test func `the ladder reports a device's silence once`() {
    var rig = acknowledging()
    rig.zone(1)
    var silence = wake(&rig, ladder: false)
    #expect(silence == nil)
    let first = rig.now
    var told: [(wake: Int, after: Span, silence: Silence)] = []
    for number in 2...12 {
      silence = wake(&rig)
      if let silence { told.append((number, rig.now - first, silence)) }
    }
    // The gaps are 5 min, 30 min, 2 h, 12 h and 24 h, and then 24 h again. The second gap is longer
    // here, because three wakes have spent the budget.
    #expect(told.count == 1)
    #expect(told.first?.wake == 8)
    #expect((told.first?.after).map { .days(3) <= $0 && $0 < .days(4) } == true)
    #expect(told.first?.silence == Silence(since: first, wakes: 8, isTold: true))
    let recovered = rig.recovered()
    #expect(recovered.lane.silence?.isTold == true, "a crash does not tell it again")
  }

  @Test func `a device is silent from the millisecond at which the time is over`() {
    func told(after time: Span) -> Span? {
      var rig = acknowledging()
      rig.policy.silentAfter = time
      rig.zone(1)
      _ = wake(&rig, ladder: false)
      let first = rig.now
      for _ in 2...12 where wake(&rig) != nil { return rig.now - first }
      return nil
    }
    let least = Span(milliseconds: 1)
    guard let time = told(after: .hours(1)) else { return #expect(Bool(false), "it is silent") }
    #expect(told(after: time) == time)
    #expect(told(after: time + least).map { $0 > time } == true)
  }

  @Test func `a device's sign ends its silence and says whether it was reported`() {
    var rig = acknowledging()
    rig.policy.silentAfter = .minutes(30)
    rig.zone(1)
    _ = wake(&rig, ladder: false)
    var wasMissed = rig.lane.gaveSign()
    #expect(!wasMissed, "no wake had left before")
    for expected in [nil, nil, 3] {
      let silence = wake(&rig)
      #expect(silence?.wakes == expected)
    }
    wasMissed = rig.lane.gaveSign()
    #expect(wasMissed)
    wasMissed = rig.lane.gaveSign()
    #expect(!wasMissed && rig.lane.silence == nil)
  }

  @Test func `a new change restarts the ladder but not the silence`() {
    var rig = acknowledging()
    rig.policy.silentAfter = .hours(2)
    var told = 0
    for index in 0..<9 {
      rig.zone(index % 4)
      if wake(&rig, ladder: false) != nil { told += 1 }
      rig.advance(1_200)
    }
    #expect(rig.lane.ladderStep == 0 && told == 1)
  }

  @Test func `a device that never acknowledged cannot be silent`() {
    var rig = LaneRig()
    rig.policy.silentAfter = .zero
    rig.lane.registered(withProvider: true)
    for index in 0..<4 {
      rig.zone(index)
      _ = wake(&rig, ladder: false)
    }
    #expect(rig.lane.silence == nil)
  }

  @Test func `two wakes are too few for silence, however long they take`() {
    var rig = acknowledging()
    rig.policy.rewake = [.days(30)]
    rig.zone(1)
    var silence = wake(&rig, ladder: false)
    silence = wake(&rig) ?? silence
    #expect(silence == nil && rig.now - Sample.start >= .days(30))
    silence = wake(&rig)
    #expect(silence?.wakes == Silence.wakesLeast)
  }

  /// The courier and the push ask the device for the same answer, so both are one wake.
  @Test func `a courier wake and the push that repeats it count as one wake`() {
    var rig = acknowledging()
    rig.connect()
    rig.zone(1)
    #expect(rig.wake()?.isOverCourier == true)
    rig.delivered()
    rig.leave()
    #expect(rig.lane.silence?.wakes == 1)
    let push = rig.wake()
    #expect(push?.isRepeat == true && push?.isOverCourier == false)
    rig.delivered()
    #expect(rig.lane.silence?.wakes == 1)
  }

  @Test func `an alert does not count towards silence`() {
    var rig = acknowledging()
    rig.policy.silentAfter = .zero
    for index in 0..<5 {
      rig.alert("A\(index)")
      let attempt = rig.wake(covering: false)
      #expect(attempt?.isAlert == true)
      rig.delivered()
    }
    #expect(rig.lane.silence == nil)
  }
}
