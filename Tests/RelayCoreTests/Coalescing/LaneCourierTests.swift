import RelayCore
import Testing

/// Transcripts of a device at the courier: the courier tells the device first, and a push follows
/// if the device does not acknowledge.
@Suite struct LaneCourierTests {
  @Test func `an acknowledgement within the courier's grace prevents the push`() {
    var rig = LaneRig()
    rig.connect()
    rig.zone(0)
    rig.advance(0.5)
    rig.fold()
    #expect(rig.nextStep == .tell(isAlert: false))
    #expect(rig.wake()?.isOverCourier == true)
    #expect(rig.nextStep == .nothing, "one attempt at a time")
    rig.delivered()
    #expect(rig.ledger.woken == 1 && rig.ledger.isBalanced && rig.ledger.pending == 0)
    #expect(
      rig.lane.state == .watching
        && rig.nextStep == .timer(rig.now + .seconds(5), .acknowledgement))
    rig.fetched(zone: 0)
    #expect(rig.lane.state == .idle && rig.lane.fallback == nil && rig.nextStep == .nothing)
    #expect(rig.attempts.isEmpty && rig.lane.background.times.isEmpty, "no budget was spent")
  }

  @Test func `a silent device gets the same wake as a push after the grace`() {
    var rig = LaneRig()
    rig.connect()
    rig.zone(0)
    let told = rig.wake()
    rig.delivered()
    let at = rig.now
    let push = rig.wake()
    #expect(rig.now == at + .seconds(5))
    #expect(push?.wake == told?.wake && push?.isOverCourier == false)
    #expect(push?.deadline == told?.deadline)
    #expect(rig.lane.background.times == [rig.now], "the push spends the budget")
    rig.delivered()
    #expect(rig.lane.state == .idle, "it has never acknowledged: nothing to wait for")
    #expect(rig.ledger.woken == 1 && rig.ledger.isBalanced)
  }

  @Test func `an acknowledged wake number also prevents the push`() {
    var rig = LaneRig()
    rig.connect()
    rig.zone(0)
    let told = rig.wake()
    rig.delivered()
    rig.lane.acknowledged(wake: told?.wake ?? 0, ledger: &rig.ledger)
    #expect(rig.lane.state == .idle && rig.lane.fallback == nil)
    #expect(rig.ledger.isBalanced)
  }

  /// A device that has received no wake yet gives 0 as its wake number.
  @Test func `a connection that names no wake acknowledges nothing`() {
    var rig = LaneRig()
    rig.connect(after: 0)
    #expect(!rig.lane.hasAcknowledged)
    rig.zone(0)
    let told = rig.wake()
    rig.delivered()
    rig.connect(2, after: told?.wake)
    #expect(rig.lane.hasAcknowledged)
  }

  @Test func `a courier wake during the grace neither delays nor repeats the push`() {
    var rig = LaneRig()
    rig.connect()
    rig.zone(0)
    rig.wake()
    rig.delivered()
    let first = rig.now
    rig.advance(3)
    rig.zone(1)
    let second = rig.wake()
    #expect(second?.isOverCourier == true && second?.wake == 2)
    rig.delivered()
    let push = rig.wake()
    #expect(rig.now == first + .seconds(5) && push?.wake == 2)
    rig.delivered()
    #expect(rig.attempts.count == 1 && rig.lane.state == .idle)
  }

  @Test func `a change not told over the courier gives the push a new wake number`() {
    var rig = LaneRig()
    rig.connect()
    rig.zone(0)
    rig.wake()
    rig.delivered()
    rig.leave()
    rig.advance(4.9)
    rig.zone(1)
    let push = rig.wake()
    #expect(push?.wake == 2, "a client that has seen wake 1 must not take this for it")
    rig.delivered()
    #expect(rig.lane.state == .idle && rig.attempts.count == 1)
  }

  @Test func `an alert delivered over the courier is not pushed`() {
    var rig = LaneRig()
    rig.connect()
    rig.alert("a")
    rig.zone(0)
    #expect(rig.wake()?.alert?.key.subject == "a")
    rig.delivered()
    #expect(rig.lane.pending.isFresh, "an alert tells nothing of what pends in the background")
    rig.fold()
    rig.leave()
    #expect(rig.wake()?.isAlert == false)
    rig.delivered()
    #expect(rig.lane.state == .idle && rig.lane.alert.times.isEmpty)
    #expect(rig.ledger.woken == 2 && rig.ledger.isBalanced)
  }

  @Test func `a wake goes to the provider if the courier's connection breaks`() {
    var rig = LaneRig()
    rig.connect()
    rig.zone(0)
    let told = rig.wake()
    rig.courierFailed()
    #expect(rig.lane.reach.courier == .away)
    let push = rig.wake()
    #expect(push?.wake == told?.wake && push?.isOverCourier == false && push?.tries == 2)
  }

  @Test func `a device that disconnects within the grace is pushed after the grace`() {
    var rig = LaneRig()
    rig.connect()
    rig.zone(0)
    rig.wake()
    rig.delivered()
    rig.leave()
    #expect(rig.nextStep == .timer(rig.now + .seconds(5), .acknowledgement))
    #expect(rig.wake()?.wake == 1)
  }

  @Test func `a wake between two polls waits for the next poll before it is pushed`() {
    var rig = LaneRig()
    rig.connect()
    rig.leave(isExpectedBack: true)
    let back = rig.now + .seconds(5)
    rig.alert("a")
    rig.advance(0.5)
    rig.fold()
    #expect(rig.nextStep == .timer(back, .nextPoll))
    var other = rig
    other.connect(2)
    #expect(other.nextStep == .tell(isAlert: true))
    rig.now = back
    #expect(rig.nextStep == .attempt(isAlert: true))
  }

  @Test func `the end of an older connection changes nothing`() {
    var rig = LaneRig()
    rig.connect(1)
    rig.connect(2)
    rig.leave(1)
    #expect(rig.lane.reach.isHere)
    rig.leave(2)
    #expect(rig.lane.reach.courier == .away)
  }

  @Test func `a crash within the grace loses no wake`() {
    var rig = LaneRig()
    rig.connect()
    rig.zone(0)
    let told = rig.wake()
    rig.delivered()
    let until = rig.now + .seconds(5)
    rig = rig.recovered()
    #expect(rig.ledger.recovered == 0)
    #expect(rig.nextStep == .timer(until, .acknowledgement))
    #expect(rig.wake()?.wake == told?.wake && rig.now == until)
  }

  @Test func `a wake for a device without a provider waits until it connects`() {
    var rig = LaneRig()
    rig.lane.registered(withProvider: false)
    rig.zone(0)
    rig.alert("a")
    rig.advance(100_000)
    rig.fold()
    #expect(rig.nextStep == .nothing)
    rig.connect()
    #expect(rig.wake()?.isAlert == true)
    rig.delivered()
    #expect(rig.wake()?.isAlert == false)
    rig.delivered()
    #expect(rig.lane.state == .idle && rig.lane.fallback == nil)
    #expect(rig.ledger.woken == 2 && rig.ledger.isBalanced)
    rig.fetched()
    rig.zone(1)
    rig.wake()
    rig.delivered()
    rig.advance(1_000_000)
    #expect(rig.lane.state == .watching && rig.nextStep == .nothing, "no ladder without a provider")
  }

  @Test func `a provider's retry delay does not delay the courier`() {
    var rig = LaneRig()
    rig.zone(0)
    let push = rig.wake()
    rig.postponed(300)
    rig.connect()
    let told = rig.wake()
    #expect(told?.isOverCourier == true && told?.wake == push?.wake)
  }

  @Test func `the push after the grace backs off like any other push`() {
    var rig = LaneRig()
    rig.connect()
    rig.zone(0)
    rig.wake()
    rig.delivered()
    rig.wake()
    rig.postponed(60)
    #expect(rig.nextStep == .timer(rig.now + .seconds(60), .rest))
    #expect(rig.wake()?.wake == 1)
    rig.fetched(zone: 0)
    rig.postponed(60)
    #expect(rig.lane.state == .idle && rig.lane.fallback == nil, "acknowledged meanwhile")
  }

  @Test func `a reconnected stream repeats the wakes that the device has not got`() {
    var rig = LaneRig()
    rig.connect()
    for zone in 0..<2 {
      rig.zone(zone)
      rig.wake()
      rig.delivered()
    }
    rig.leave()
    rig.connect(2, after: 1)
    #expect(rig.lane.pending.zones.map(\.content.zone) == [LaneRig.zones[1]])
    #expect(rig.nextStep == .tell(isAlert: false))
    #expect(rig.wake()?.wake == 2, "the same wake")
    rig.delivered()
    rig.leave(2)
    rig.connect(3, after: 2)
    #expect(rig.lane.state == .idle && rig.ledger.isBalanced)
  }

  @Test func `the ladder uses the courier first`() {
    var rig = LaneRig()
    rig.fetched()
    rig.zone(0)
    rig.wake()
    rig.delivered()
    rig.connect()
    let told = rig.wake()
    #expect(told?.isOverCourier == true && told?.isLadder == true)
    rig.delivered()
    #expect(rig.lane.ladderStep == 1)
    let push = rig.wake()
    #expect(push?.wake == told?.wake && push?.isOverCourier == false)
    rig.delivered()
    #expect(rig.lane.ladderStep == 1, "one step, by two roads")
    #expect(rig.lane.state == .watching && rig.lane.fallback == nil)
  }

  @Test func `the grace ends when the device loses its provider address`() {
    var rig = LaneRig()
    rig.connect()
    rig.zone(0)
    rig.wake()
    rig.delivered()
    rig.lane.registered(withProvider: false)
    #expect(rig.lane.state == .idle && rig.lane.fallback == nil && rig.ledger.isBalanced)
  }
}
