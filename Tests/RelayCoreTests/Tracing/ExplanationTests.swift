import Testing

@testable import RelayCore

/// Why a change woke a device, or did not: what the explanation says in each situation.
@Suite struct ExplanationTests {
  static let route = RouteKey(
    scope: Sample.scope, transport: .apns, topic: Sample.topic)

  // MARK: Woken

  @Test func `a change that a delivered wake names woke the device`() {
    var rig = TraceRig.subscribed()
    let first = rig.change()
    let second = rig.change(.record(.updated, "A2"))
    rig.wake()
    #expect(rig.why(first) == "woken 1" && rig.why(second) == "woken 1")
    let third = rig.change()
    rig.wake()
    #expect(rig.why(third) == "woken 2" && rig.why(first) == "woken 1")
  }

  @Test func `an alert that a newer one replaced woke the device with the newer one`() {
    var rig = TraceRig.subscribed(visible: true)
    let (first, second) = (rig.change(), rig.change())
    rig.wake()
    #expect(rig.why(first) == "woken 1" && rig.why(second) == "woken 1")
  }

  @Test func `a wake that failed at first woke the device at last`() {
    var rig = TraceRig.subscribed()
    let change = rig.change()
    rig.wait(2)
    rig.end(.later(after: .minutes(1), .device, Verdict.Reason("TooManyRequests")))
    rig.wait(60)
    rig.end()
    #expect(rig.why(change) == "woken 1")
  }

  @Test func `a change's story ends when the device was told of it`() {
    var rig = TraceRig.subscribed()
    let change = rig.change()
    rig.wake()
    let told = rig.explanation(of: change)?.story.count
    rig.change()
    rig.wait(2)
    rig.end(.later(after: .minutes(1), .device, Verdict.Reason("TooManyRequests")))
    #expect(told == 4 && rig.explanation(of: change)?.story.count == told)
  }

  @Test func `an explanation says when the device acknowledged, and how`() {
    var rig = TraceRig.subscribed()
    rig.acknowledge(.listed([], .private))
    let change = rig.change()
    rig.wake()
    rig.acknowledge(.zone(Sample.zone, .private, TraceRig.head, .token))
    rig.take()
    let standing = rig.relay.standing(of: TraceRig.device, zones: [], at: rig.now)
    let found = Explanation.of(change, in: rig.entries, standing)
    #expect(found.count == 1 && found[0].deliveries.count == 1)
    #expect(found[0].outcome == .woken(1) && found[0].deliveries[0].told != nil)
    #expect(
      found[0].deliveries[0].receipt
        == .acknowledged(.zone(Sample.zone, .private, TraceRig.head, .token)))
    #expect(
      found[0].story.map(\.line) == [
        "change 1", "reading matched 1: 1 pends as ReadingList until 500",
        "1 wake 1 apns [ReadingList] try 1 news", "1 wake 1 ended delivered",
        "1 acknowledged zone",
      ])
  }

  /// The lane ignores the number of a wake that never was, so the change still waits for an
  /// acknowledgement.
  @Test func `an explanation does not take the number of a wake that never was for an answer`() {
    var rig = TraceRig.subscribed()
    rig.acknowledge(.listed([], .private))
    let change = rig.change()
    rig.wake()
    rig.acknowledge(.wake(2))
    rig.acknowledge(.wake(999))
    rig.connect(1, after: 999)
    let standing = rig.relay.standing(of: TraceRig.device, zones: [], at: rig.now)
    let found = Explanation.of(change, in: rig.entries, standing)
    #expect(found[0].outcome == .woken(1) && found[0].deliveries[0].receipt == nil)
    rig.acknowledge(.wake(1))
    let later = Explanation.of(change, in: rig.entries, standing)
    #expect(later[0].deliveries[0].receipt == .acknowledged(.wake(1)))
  }

  // MARK: Waiting

  @Test func `a change gathers, waits for its fold, and is under way`() {
    var rig = TraceRig.subscribed()
    let change = rig.change()
    #expect(rig.why(change) == "gathering")
    rig.now = rig.now + .seconds(3)
    #expect(rig.why(change) == "not_folded")
    rig.wait(0)
    #expect(rig.why(change) == "under_way")
    let next = rig.change()
    #expect(rig.why(next) == "queued", "one wake at a time")
  }

  @Test(arguments: [true, false])
  func `a change waits for the budget of its kind`(visible: Bool) {
    var rig = TraceRig.subscribed(visible: visible) { ($0.background.max, $0.alert.max) = (1, 1) }
    rig.change()
    rig.wake()
    let change = rig.change()
    rig.wait(3)
    #expect(rig.why(change) == "budget")
    rig.wait(3_600)
    rig.end()
    #expect(rig.why(change) == "woken 2")
  }

  @Test func `a hot change waits for the lane's slot`() {
    var rig = TraceRig {
      $0.smearing.above = 0
      $0.smearing.rate = 1
    }
    let user = ZoneID.publicDefault.owner
    rig.register(of: user)
    rig.save("all", .query(QueryRule(recordType: "Article")), .public, of: user)
    rig.fold()
    let device = DeviceKey(scope: Sample.scope, user: user, client: Sample.client(1))
    rig.change(in: .publicDefault, .public)
    rig.wake()
    let change = rig.change(in: .publicDefault, .public)
    rig.wait(3)
    #expect(rig.why(change, device) == "paced")
  }

  @Test func `a change rests after a failure, and in quarantine`() {
    var rig = TraceRig.subscribed { ($0.pruning.least, $0.background.max) = (1, 10) }
    let change = rig.change()
    rig.wait(2)
    rig.end(.later(after: .minutes(1), .device, Verdict.Reason("TooManyRequests")))
    #expect(rig.why(change) == "resting")
    rig.wait(60)
    rig.end(.rejected(Verdict.Reason("BadTopic")))
    #expect(rig.why(change) == "resting", "what pends in the background is tried again")
    rig.wait(300)
    rig.end()
    let next = rig.change()
    rig.wait(2)
    rig.end(.gone(at: nil, Verdict.Reason("Unregistered")))
    rig.wait(1)
    #expect(rig.why(next) == "quarantined")
  }

  @Test func `a change waits for a route that is stopped or has no provider`() {
    var rig = TraceRig.subscribed()
    let change = rig.changeOfStoppedRoute()
    #expect(rig.why(change) == "route_stopped")
    rig.relay.withdraw(Self.route, at: rig.now)
    #expect(rig.why(change) == "no_provider")
    rig.relay.renew(Self.route, at: rig.now)
    rig.wait(1)
    #expect(rig.why(change) == "under_way")
    rig.relay.drain()
    rig.end(.later(after: .zero, .recalled, Verdict.Reason("recalled")))
    #expect(rig.why(change) == "stopping")
  }

  /// If the device registered again after the change, its route may have been `other` before that.
  @Test(arguments: [false, true])
  func `a story tells of the device's own route alone, unless the device may have changed it`(
    isRegistered: Bool
  ) {
    var rig = TraceRig.subscribed()
    let change = rig.changeOfStoppedRoute()
    let other = RouteKey(scope: Sample.scope, transport: .fcm, topic: "other")
    for route in [other, Self.route] {
      rig.relay.renew(route, at: rig.now)
      rig.relay.withdraw(route, at: rig.now)
    }
    if isRegistered { rig.register() }
    let explanation = rig.explanation(of: change)
    let told = Set(
      (explanation?.story ?? []).compactMap { entry -> RouteKey? in
        if case .route(let route, _) = entry.event { route } else { nil }
      })
    #expect(told == (isRegistered ? [other, Self.route] : [Self.route]))
  }

  @Test func `a change waits in its route's queue while the route has no room`() {
    var limits = Limits()
    limits.inFlightPerRoute = 1
    var rig = TraceRig.subscribed(limits: limits)
    rig.register(2)
    rig.fold()
    let change = rig.change()
    rig.wait(3)
    let other = DeviceKey(scope: Sample.scope, user: Sample.owner, client: Sample.client(2))
    #expect(Set([rig.why(change), rig.why(change, other)]) == ["under_way", "queued"])
  }

  @Test func `a device that has only the courier waits until it connects`() {
    var rig = TraceRig()
    rig.register(1, of: Sample.owner, Address(transport: .courier, topic: "", token: [1]))
    rig.save()
    rig.fold()
    let change = rig.change()
    rig.wait(3)
    #expect(rig.why(change) == "not_connected")
    rig.connect(1)
    rig.wait(0)
    rig.end()
    #expect(rig.why(change) == "told_by_courier")
  }

  // MARK: Told by other means than a push

  @Test func `the courier tells first, and a push repeats it unless the device acknowledges`() {
    var rig = TraceRig.subscribed()
    let change = rig.changeToldByCourier()
    #expect(rig.why(change) == "told_by_courier")
    rig.wait(6)
    #expect(rig.why(change) == "told_by_courier", "the push is under way")
    rig.end()
    #expect(rig.why(change) == "woken 1")
  }

  @Test func `a wake of a later registration repeats nothing that the courier told before`() {
    var rig = TraceRig.subscribed()
    let change = rig.changeToldByCourier()
    rig.unregister()
    rig.register()
    let later = rig.change()
    rig.wake()
    #expect(rig.why(later) == "woken 1" && rig.why(change) == "told_by_courier")
  }

  /// After a kill the recorder does not know what was lost. The lane's row in the store still says
  /// that a push must repeat the courier's wake, and the push's own entry says that it repeats one.
  @Test func `a push that the courier's wake needs is known in spite of lost entries`() {
    var rig = TraceRig.subscribed()
    let change = rig.changeToldByCourier()
    rig.take()
    let end = rig.entries.count
    rig.leave(1)
    rig.take()
    let lost = end..<rig.entries.count
    rig.wait(60)
    rig.end()
    #expect(rig.why(change) == "woken 1" && rig.why(change, without: lost) == "woken 1")
  }

  @Test(arguments: [Acknowledged.listed([Sample.zone], .private), .wake(1)])
  func `a sign that comes while a push repeats the courier's wake ends the repeating`(
    sign: Acknowledged
  ) {
    var rig = TraceRig.subscribed { $0.deadline = .seconds(5) }
    rig.connect(1)
    let change = rig.change()
    rig.wait(3)
    rig.end()
    rig.wait(6)
    rig.acknowledge(sign)
    rig.end(.later(after: nil, .attempt, Verdict.Reason("deadline")))
    #expect(rig.why(change) == "told_by_courier")
    rig.leave(1)
    let later = rig.change()
    rig.wait(10)
    rig.end()
    #expect(rig.why(later) == "woken 3" && rig.why(change) == "told_by_courier")
  }

  @Test func `a device between two polls is awaited`() {
    var rig = TraceRig.subscribed()
    rig.connect(1)
    rig.leave(1)
    let change = rig.change()
    rig.wait(2)
    #expect(rig.why(change) == "between_polls")
  }

  @Test func `the alert of another notification tells of the change, too`() {
    var rig = TraceRig.subscribed()
    rig.save("loud", .query(QueryRule(recordType: "Loud")), visible: true, runsApp: true)
    rig.fold()
    let quiet = rig.change()
    rig.change(.record(RecordChange(verb: .updated, name: "L", type: "Loud")))
    rig.wait(2)
    rig.end()
    #expect(rig.why(quiet) == "already_told")
  }

  @Test func `a change that the device reads first wakes nobody`() {
    var rig = TraceRig.subscribed()
    let change = rig.change()
    rig.acknowledge(.zone(Sample.zone, .private, TraceRig.head))
    #expect(rig.why(change) == "fetched")
    let second = rig.change()
    rig.wait(2)
    rig.acknowledge(.notifications(TraceRig.head))
    rig.end(.later(after: nil, .attempt, Verdict.Reason("deadline")))
    #expect(rig.why(second) == "fetched")
    let third = rig.change()
    rig.wait(2)
    rig.acknowledge(.notifications(TraceRig.head))
    rig.end()
    #expect(rig.why(third) == "woken 2", "the fetch may have been the wake's effect")
  }
}

extension TraceRig {
  /// A change that waits because its device's route is stopped.
  fileprivate mutating func changeOfStoppedRoute() -> Identifier {
    change()
    wait(2)
    end(.later(after: nil, .route, Verdict.Reason("InvalidProviderToken")))
    let waiting = change()
    wait(3)
    return waiting
  }
}

extension TraceRig {
  /// A change that the connected courier tells the device.
  fileprivate mutating func changeToldByCourier() -> Identifier {
    connect(1)
    let change = change()
    wait(3)
    end()
    return change
  }
}
