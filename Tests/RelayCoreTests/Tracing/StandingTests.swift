import Testing

@testable import RelayCore

/// What the loop tells of devices for explanations.
@Suite struct StandingTests {
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
