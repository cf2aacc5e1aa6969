@testable import RelayCore
import Testing

/// A reload re-evaluates the lanes of all devices in slices, and other work goes on meanwhile.
@Suite struct AdoptionWorkTests {
  @Test func `lanes are evaluated again in slices after a reload`() {
    var relay = Relay([], limits: Limits(), policy: WakePolicy())
    _ = relay.recovered()
    var effects: [Effect] = []
    var ordinals: [PartitionID: Ordinal] = [:]
    let count = Relay.evaluatedAnewAtOnce * 5 / 2
    for number in 0..<count {
      let user = UserID("_u\(number % 1_000)")
      let home = PartitionID.home(of: user, in: Sample.scope)
      ordinals[home] = (ordinals[home] ?? .zero).next
      let registration = Registration(
        scope: Sample.scope, user: user, client: ClientID(Identifier(high: 1, low: UInt64(number))),
        address: Address(transport: .apns, topic: "t", token: [UInt8(number % 256)]))
      relay.step(
        .register(registration), in: home, ordinal: ordinals[home]!, at: Sample.start,
        into: &effects)
    }
    relay.wake(at: Sample.start, into: &effects)
    #expect(relay.nextTimer ?? .never > Sample.start)
    var policy = WakePolicy()
    policy.background.max += 1
    relay.reconfigure(policy, at: Sample.start)
    var left: [Int] = []
    while let timer = relay.nextTimer, timer <= Sample.start, left.count < 10 {
      relay.wake(at: Sample.start, into: &effects)
      var waiting = 0
      for id in PartitionID.all { waiting += relay.partition(id).wakes.outdatedSlots }
      left.append(waiting)
    }
    #expect(left == [count - Relay.evaluatedAnewAtOnce, count - 2 * Relay.evaluatedAnewAtOnce, 0])
  }
}
