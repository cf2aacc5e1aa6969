import RelayCore
import Testing

/// Transcripts of one lane: every arrow of the diagram in `docs/architecture.md`, and the promises
/// that hold meanwhile.
@Suite struct LaneTests {
  @Test func `a first change opens a window, and more changes extend it to its limit`() {
    var rig = LaneRig()
    #expect(rig.nextStep == .nothing)
    rig.zone(0)
    #expect(rig.nextStep == .timer(.s(0.5), .window))
    for _ in 0..<6 {
      rig.advance(0.4)
      rig.zone(0)
    }
    #expect(rig.lane.state == .gathering(opened: .s(0), due: .s(2)))
    #expect(rig.ledger.merged == 6 && rig.ledger.pending == 1)
  }

  @Test func `a wake waits for the fold of the changes that it tells`() {
    var rig = LaneRig()
    rig.zone(0)
    rig.advance(0.5)
    #expect(rig.nextStep == .fold)
    #expect(rig.lane.state == .due(after: rig.stepped))
    _ = rig.lane.record()
    rig.lane.folded(to: .zero, ledger: &rig.ledger)
    #expect(rig.nextStep == .fold, "wake numbers are reserved, the change is not folded")
    rig.fold()
    #expect(rig.nextStep == .attempt(isAlert: false))
  }

  /// P5: the zone's last change is not folded yet, but its first one is, so the wake goes out.
  @Test func `a zone that changes again before every fold is still told`() {
    var rig = LaneRig()
    rig.zone(0)
    rig.advance(0.5)
    #expect(rig.nextStep == .fold)
    rig.fold()
    rig.zone(0)
    #expect(rig.nextStep == .attempt(isAlert: false))
  }

  @Test func `a delivered wake leaves nothing pending if no acknowledgement ever comes`() {
    var rig = LaneRig()
    rig.zone(0)
    #expect(rig.wake()?.wake == 1)
    #expect(rig.nextStep == .nothing, "one attempt at a time")
    rig.delivered()
    #expect(rig.lane.state == .idle)
    #expect(rig.ledger.woken == 1 && rig.ledger.isBalanced && rig.ledger.pending == 0)
  }

  /// A push may be lost, so the lane wakes the device again. The ladder's last gap repeats.
  @Test func `an acknowledging device is woken again at growing gaps`() {
    var rig = LaneRig()
    rig.fetched()
    rig.zone(0)
    rig.wake()
    rig.delivered()
    #expect(rig.lane.state == .watching)
    var last = rig.now
    for gap in [Span.minutes(5), .minutes(30), .hours(2), .hours(12), .hours(24), .hours(24)] {
      rig.fold()
      #expect(rig.wake()?.isLadder == true)
      #expect(rig.now - last == gap)
      last = rig.now
      rig.delivered()
    }
    rig.fetched(zone: 0)
    #expect(rig.lane.state == .idle && rig.lane.ladderStep == 0)
    #expect(rig.ledger.woken == 1)
  }

  @Test func `a fetch before the wake cancels the wake`() {
    var rig = LaneRig()
    rig.zone(0)
    rig.fetched(zone: 0)
    #expect(rig.lane.state == .idle && rig.nextStep == .nothing)
    #expect(rig.ledger.fetched == 1 && rig.ledger.isBalanced)
  }

  @Test func `a change in flight stays pending and gathers in its own window`() {
    var rig = LaneRig()
    rig.zone(0)
    rig.wake()
    rig.advance(1)
    rig.zone(0)
    #expect(rig.ledger.pending == 2)
    rig.delivered()
    #expect(rig.lane.state == .gathering(opened: rig.now, due: rig.now + rig.policy.window))
    #expect(rig.ledger.woken == 1 && rig.ledger.pending == 1)
    #expect(rig.wake()?.wake == 2)
  }

  /// P5: an attempt is slow, and a change comes in each second of the attempt.
  @Test func `changes in flight delay their wake by at most the window's maximum`() {
    var rig = LaneRig()
    rig.zone(0)
    rig.wake()
    let first = rig.now
    for _ in 0..<6 {
      rig.zone(0)
      rig.advance(1)
    }
    rig.delivered()
    #expect(rig.lane.state == .gathering(opened: first, due: first + rig.policy.windowMax))
  }

  @Test func `a postponed wake keeps its number until its deadline`() {
    var rig = LaneRig()
    rig.zone(0)
    let first = rig.wake()
    rig.postponed(60)
    #expect(rig.nextStep == .timer(rig.now + .seconds(60), .rest))
    let second = rig.wake()
    #expect(second?.wake == first?.wake && second?.tries == 2)
    #expect(second?.deadline == first?.deadline)
    rig.postponed(25 * 3_600)
    let third = rig.wake()
    #expect(third?.wake == 2 && third?.tries == 1, "a deadline ends a series, never what pends")
  }

  /// The budget (P7) counts only the attempts that a provider may have received. Otherwise an
  /// outage would be followed by an hour without wakes.
  @Test func `an attempt that was never sent costs no budget`() {
    var rig = LaneRig()
    rig.zone(0)
    for attempt in 1...9 {
      #expect(rig.wake()?.tries == attempt)
      rig.lane.regain()
      rig.postponed(1)
    }
    #expect(rig.lane.background.times.isEmpty)
    rig.wake()
    rig.postponed(1)
    #expect(rig.lane.background.times.count == 1, "this one may have left")
    rig.alert("a")
    rig.wake()
    rig.lane.regain()
    #expect(rig.lane.alert.times.isEmpty && rig.lane.background.times.count == 1)
  }

  @Test func `what waits to be told waits since the first change that was not told`() {
    var rig = LaneRig()
    rig.zone(0)
    rig.advance(1)
    rig.zone(1)
    rig.fetched(zone: 1)
    #expect(rig.lane.freshSince == .s(0), "the first zone still waits")
    rig.fetched(zone: 0)
    #expect(rig.lane.freshSince == nil)
    rig.alert("a")
    rig.fetched(zone: 0)
    #expect(rig.lane.freshSince == .s(1), "the alert still waits")
  }

  @Test func `what comes after a wake has its own time, and what the wake left keeps its time`() {
    var rig = LaneRig()
    rig.zone(0)
    rig.wake()
    rig.delivered()
    #expect(rig.lane.freshSince == nil)
    rig.advance(1)
    rig.zone(1)
    let since = rig.now
    rig.wake()
    rig.advance(1)
    rig.zone(0)
    rig.delivered()
    #expect(rig.lane.freshSince == since)
  }

  @Test func `an acknowledged wake number covers only what that wake told`() {
    var rig = LaneRig()
    rig.fetched()
    rig.zone(0)
    rig.wake()
    rig.delivered()
    rig.zone(1)
    rig.lane.acknowledged(wake: 99, ledger: &rig.ledger)
    #expect(rig.lane.pending.zones.count == 2, "a number this life never gave is ignored")
    rig.lane.acknowledged(wake: 1, ledger: &rig.ledger)
    #expect(rig.lane.pending.zones.map(\.content.zone) == [LaneRig.zones[1]])
    #expect(rig.ledger.pending == 1 && rig.ledger.isBalanced)
  }

  @Test func `a database page ends the ladder only for the zones that it lists`() {
    var rig = LaneRig()
    rig.fetched()
    rig.zone(0)
    rig.zone(1)
    rig.wake()
    rig.delivered()
    rig.lane.listed([LaneRig.zones[0]], .shared)
    #expect(rig.lane.pending.zones.count == 2, "another database")
    rig.lane.listed([LaneRig.zones[0]], .private)
    #expect(rig.lane.pending.zones.map(\.content.zone) == [LaneRig.zones[1]])
    rig.zone(2)
    rig.lane.listed([LaneRig.zones[2]], .private)
    #expect(rig.lane.pending.zones.count == 2, "what no wake told still pends")
  }

  @Test func `the budget holds, and a pending change is sent when it opens again`() {
    var rig = LaneRig()
    for _ in 0..<3 {
      rig.zone(0)
      rig.wake()
      rig.delivered()
      rig.fold()
    }
    rig.zone(0)
    rig.advance(2)
    rig.fold()
    #expect(
      rig.nextStep == .fold
        || rig.nextStep == .timer(rig.attempts[0].at + .hours(1), .backgroundBudget))
    #expect(rig.wake() != nil)
    #expect(rig.now == rig.attempts[0].at + .hours(1))
  }

  @Test func `an attempt waits until the previous attempt is durable`() {
    var rig = LaneRig()
    rig.zone(0)
    rig.wake()
    rig.delivered()
    rig.zone(1)
    rig.advance(0.5)
    rig.folded = rig.stepped
    #expect(rig.nextStep == .fold, "a crash costs at most one attempt over the budget (P7)")
    rig.fold()
    #expect(rig.nextStep == .attempt(isAlert: false))
  }

  /// P7: a fold does not contain an attempt that began after the fold's cut.
  @Test func `an attempt that began after the cut is not durable with that cut`() {
    var rig = LaneRig()
    rig.zone(0)
    rig.advance(0.5)
    rig.fold()
    rig.cut()
    rig.wake()
    rig.keep()
    rig.postponed(0)
    #expect(rig.nextStep == .fold)
    rig.cut()
    #expect(rig.nextStep == .fold, "recorded, and not durable")
    rig.keep()
    #expect(rig.nextStep == .attempt(isAlert: false))
  }

  /// P6: if the wake numbers counted as reserved at the cut, and the relay crashed before the fold
  /// was durable, its next life would use the same numbers again.
  @Test func `wake numbers are reserved when the fold is durable, not at its cut`() {
    var rig = LaneRig()
    rig.zone(0)
    rig.advance(0.5)
    rig.folded = rig.stepped
    rig.cut()
    #expect(rig.nextStep == .fold)
    rig.keep()
    #expect(rig.nextStep == .attempt(isAlert: false))
  }

  /// Otherwise the status would show no age for a lane that has been stuck since before a restart.
  @Test func `what pended before a restart is as old as the last fold`() {
    var rig = LaneRig()
    let since = rig.now
    #expect(Lane(rig.lane.record(), folded: .zero, since: since).freshSince == nil)
    rig.zone(0)
    #expect(Lane(rig.lane.record(), folded: rig.folded, since: since).freshSince == since)
    var other = LaneRig()
    other.alert("a")
    #expect(Lane(other.lane.record(), folded: other.folded, since: since).freshSince == since)
  }

  @Test func `a retired device has nothing pending when it registers again`() {
    var rig = LaneRig()
    rig.zone(0)
    rig.alert("a")
    rig.wake()
    rig.lane.retire(Retirement(at: rig.now, reason: "Unregistered"), ledger: &rig.ledger)
    rig.zone(0)
    #expect(rig.ledger.retired == 3 && rig.ledger.isBalanced && rig.ledger.pending == 0)
    #expect(rig.lane.retirement?.reason == "Unregistered" && rig.nextStep == .nothing)
    rig.lane.registeredAgain()
    #expect(rig.lane.state == .idle)
    rig.zone(0)
    #expect(rig.wake() != nil)
  }
}
