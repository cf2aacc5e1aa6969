@testable import RelayCore
import Testing

/// A lane that waits for a route is once in that route's queue, and in no other queue.
@Suite struct RouteQueueTests {
  private let everything = Subscription.Rule.database(recordType: nil)

  private func address(_ topic: String, _ token: UInt8) -> Address {
    Address(transport: .apns, topic: topic, token: [token])
  }

  /// The lanes that are ready for their routes. The call begins no attempt.
  private func lines(_ rig: inout PartitionRig) -> [ReadyLane] {
    rig.now = rig.now + .seconds(3)
    rig.lines = []
    for _ in 0..<3 {
      rig.lines += rig.partition.ready(at: rig.now)
      rig.fold()
    }
    return rig.lines
  }

  /// P5: earlier, a device whose route was taken away was never woken by its new route.
  @Test func `a device that moved waits at its new route`() {
    var rig = PartitionRig()
    rig.register(1, address: address("old", 1))
    rig.save("all", everything)
    rig.change(.record(.created))
    let old = lines(&rig)
    #expect(old.map(\.route.topic) == ["old"])
    rig.register(1, address: address("new", 1))
    let new = lines(&rig)
    #expect(new.map(\.route.topic) == ["new"])
    let late = old.first.flatMap { rig.partition.begin($0, at: rig.now) }
    #expect(late == nil, "it is not there any more")
    let attempt = new.first.flatMap { rig.partition.begin($0, at: rig.now) }
    #expect(attempt?.route.topic == "new")
  }

  /// Earlier, the lane of a new device took over the queue place of a signed-out device with the
  /// same number, and counted in the share of that device's user.
  @Test func `a new device does not take the queue place of the number's old owner`() throws {
    let next = users(1, inHomeOf: Sample.owner, true)[0]
    var rig = PartitionRig()
    rig.register(1, address: address("a", 1))
    rig.save("all", everything)
    rig.change(.record(.created))
    let stale = try #require(lines(&rig).first)
    let gone = Unregistration.Device.client(Sample.client(1))
    rig.step(.unregister(Unregistration(scope: Sample.scope, user: Sample.owner, device: gone)))
    rig.register(2, of: next, address: address("a", 2))
    rig.save("all", everything, of: next)
    rig.change(.record(.created), in: ZoneID(name: "History", owner: next))
    let fresh = try #require(lines(&rig).first)
    #expect(fresh.device == stale.device && fresh.user != stale.user)
    let passed = rig.partition.begin(stale, at: rig.now)
    #expect(passed == nil)
    #expect(lines(&rig) == [], "it still stands where it stood")
    let attempt = rig.partition.begin(fresh, at: rig.now)
    #expect(attempt?.device.user == next)
  }

  /// P11: while a route is stopped, devices register, sign out and change their addresses.
  @Test func `a stopped route's queue is no longer than the number of its devices`() {
    var rig = PartitionRig()
    var route = Route(inFlightMax: 1, probe: .seconds(30))
    rig.save("all", everything)
    for round in 0..<20 {
      rig.register(UInt64(round), address: address("a", UInt8(round)))
      rig.register(100, address: address(round.isMultiple(of: 2) ? "a" : "b", 200))
      rig.change(.record(.updated))
      for lane in lines(&rig) where lane.route.topic == "a" { route.offer(lane) }
      let gone = Unregistration.Device.client(Sample.client(UInt64(round)))
      rig.step(
        .unregister(Unregistration(scope: Sample.scope, user: Sample.owner, device: gone)))
    }
    #expect(route.waiting == 2)
  }

  /// P11: the end of a burst moves with every change. Earlier, each move left a timer behind.
  @Test func `a burst leaves no timers behind`() {
    var policy = WakePolicy()
    policy.mode = .adaptive
    var rig = PartitionRig(policy: policy)
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    for attempt in rig.wake() { rig.ended(attempt, .delivered) }
    rig.partition.served(
      .listed([Sample.zone], .private),
      by: DeviceKey(scope: Sample.scope, user: Sample.owner, client: Sample.client(1)), at: rig.now)
    for _ in 0..<200 {
      rig.change(.record(.updated))
      rig.now = rig.now + .seconds(1)
      rig.lines += rig.partition.ready(at: rig.now)
      rig.fold()
    }
    #expect(rig.lines.isEmpty, "the burst goes on")
    #expect(rig.partition.wakes.timersWaiting <= 3)
  }
}
