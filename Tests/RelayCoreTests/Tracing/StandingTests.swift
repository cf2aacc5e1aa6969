import Testing

@testable import RelayCore

/// What the loop tells of devices for explanations.
@Suite struct StandingTests {
  @Test func `an alert and a subject beside it each wait for their own budget`() {
    var rig = TraceRig.subscribed {
      $0.background.max = 1
      $0.alert = Budget.Rule(max: 1, per: .minutes(10))
    }
    rig.save("loud", .database(recordType: nil), visible: true)
    rig.change()
    rig.wake()
    rig.wake()
    rig.change()
    rig.wait(5)
    let standing = rig.relay.standing(of: TraceRig.device, zones: [], at: rig.now)
    let reasons: [Explanation.Reason] = [
      .budget(until: .s(2) + .minutes(10), isAlert: true),
      .budget(until: .s(4) + .hours(1), isAlert: false),
    ]
    #expect(standing.pending.map(\.reason) == reasons)
  }

  @Test func `devices of one answer are asked for together, and each has its own standing`() {
    var rig = TraceRig.subscribed()
    rig.register(2)
    let guest = users(1, inHomeOf: Sample.owner, false)[0]
    rig.register(3, of: guest)
    rig.save("shared", .database(recordType: nil), .shared, of: guest)
    rig.change(.granted(guest))
    rig.forward()
    rig.change()
    let devices = [
      DeviceKey(scope: Sample.scope, user: guest, client: Sample.client(3)), TraceRig.device,
      DeviceKey(scope: Sample.scope, user: UserID("_x"), client: Sample.client(9)),
      DeviceKey(scope: Sample.scope, user: Sample.owner, client: Sample.client(2)),
    ]
    let together = rig.relay.standings(of: devices, zones: [Sample.zone], at: rig.now)
    #expect(
      together
        == devices.map { rig.relay.standing(of: $0, zones: [Sample.zone], at: rig.now) })
    #expect(together.map(\.device) == devices)
    #expect(
      together.map { $0.subscriptions.map(\.id.name) }
        == [["shared"], ["reading"], [], ["reading"]])
    #expect(together.map { $0.shared[Sample.zone] != nil } == [true, false, false, false])
  }
}
