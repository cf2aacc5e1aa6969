import Testing

@testable import RelayCore

/// P6, P11: pushes under way to one route are bounded. Further pushes wait as state of their lanes,
/// and each goes out when an earlier push has ended.
@Suite struct RouteBoundsTests {
  private struct Rig: ~Copyable {
    var relay: Relay
    var now = Sample.start
    private var ordinal = Ordinal.zero
    private let home = PartitionID.home(of: Sample.owner, in: Sample.scope)

    init(_ limits: Limits) {
      relay = Relay([], limits: limits, policy: WakePolicy())
      _ = relay.recovered()
    }

    mutating func step(_ fact: Fact) {
      ordinal = ordinal.next
      var effects: [Effect] = []
      relay.step(fact, in: home, ordinal: ordinal, at: now, into: &effects)
    }

    /// Lets the relay begin pushes and fold, three times. Returns the pushes that it began.
    mutating func pushes() -> [PushAttempt] {
      var effects: [Effect] = []
      for _ in 0..<3 {
        relay.wake(at: now, into: &effects)
        let cut = relay.cut(at: now)
        relay.folded(cut, at: now, into: &effects)
      }
      return effects.compactMap { effect in
        guard case .push(let attempt) = effect else { return nil }
        return attempt
      }
    }

    mutating func ended(_ attempt: PushAttempt) {
      var effects: [Effect] = []
      relay.attemptEnded(attempt, .delivered, at: now, into: &effects)
    }
  }

  /// A relay in which a change is for `devices` devices of one user.
  private func rig(_ devices: Int, over transport: Transport) -> Rig {
    var limits = Limits()
    if transport == .apns { limits.inFlightPerRoute = 3 }
    var rig = Rig(limits)
    let topic = transport == .apns ? Sample.topic : ""
    for number in 1...UInt8(devices) {
      rig.step(
        .register(
          Registration(
            scope: Sample.scope, user: Sample.owner, client: Sample.client(UInt64(number)),
            address: Address(transport: transport, topic: topic, token: [number]))))
    }
    let all = Subscription(
      id: SubscriptionID("all"), database: .private, rule: .database(recordType: nil),
      info: NotificationInfo())
    rig.step(
      .modify(
        SubscriptionsRequest(
          scope: Sample.scope, user: Sample.owner, database: .private, operations: [.save(all)])))
    rig.step(
      .change(
        Change(
          scope: Sample.scope, database: .private, zone: Sample.zone,
          event: .record(.created), time: rig.now, notification: Sample.nid(1), fingerprint: 1)))
    return rig
  }

  /// - Returns: how many pushes begin, and how many more begin after one of them has ended.
  private func begun(_ rig: inout Rig) -> [Int] {
    var begun = rig.pushes()
    rig.now = rig.now + .seconds(3)
    begun += rig.pushes()
    guard let first = begun.first else { return [] }
    rig.ended(first)
    let more = rig.pushes()
    #expect(rig.relay.ledger.isBalanced)
    return [begun.count, more.count]
  }

  /// Limit: limits.inFlightPerRoute
  @Test(arguments: [(devices: 2, underWay: 2), (3, 3), (4, 3)])
  func `inFlightPerRoute limits the pushes under way to one route`(devices: Int, underWay: Int) {
    var rig = rig(devices, over: .apns)
    #expect(begun(&rig) == [underWay, devices - underWay])
  }

  /// Each endpoint of Web Push has a provider of its own, which may never answer.
  ///
  /// Fixed limit: inFlightPerRoute of a user, on Web Push
  @Test(arguments: [(devices: 7, underWay: 7), (8, 8), (9, 8)])
  func `a Web Push user has at most eight pushes under way`(devices: Int, underWay: Int) {
    var rig = rig(devices, over: .webpush)
    #expect(begun(&rig) == [underWay, devices - underWay])
  }

  /// Earlier, a stop during a backlog began pushes until its deadline, and dropped their verdicts.
  @Test func `a draining relay starts no waiting pushes`() {
    var rig = rig(5, over: .apns)
    var first = rig.pushes()
    rig.now = rig.now + .seconds(3)
    first += rig.pushes()
    #expect(first.count == 3)
    rig.relay.drain()
    for attempt in first { rig.ended(attempt) }
    #expect(rig.pushes().isEmpty)
    #expect(rig.relay.nextTimer == nil)
  }
}
