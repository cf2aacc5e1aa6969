import RelayCore
import Testing

/// The facts of one partition and their effects.
@Suite struct PartitionTests {
  private let everything = Subscription.Rule.database(recordType: nil)

  @Test func `a change reaches the zone's feed, its owner's feeds and their devices`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.fold()
    #expect(rig.change(.record(.created)) == .accepted)
    let feeds = rig.last.compactMap { effect -> FeedKey.Kind? in
      guard case .dirtied(.feed(let key)) = effect else { return nil }
      return key.kind
    }
    #expect(
      feeds == [
        .zone(Sample.zone), .database(Sample.owner, .private), .notifications(Sample.owner),
      ])
    let cut = rig.fold()
    #expect(cut.cursor == Ordinal(3) && cut.remembered.count == 1)
    #expect(
      cut.feeds.map { $0.deltas.map(\.subject) } == [
        [.record("A1")], [.zone(Sample.zone)],
        [.notification(SubscriptionID("all"), zone: Sample.zone, record: nil)],
      ])
    let pushes = rig.wake()
    #expect(pushes.map(\.device.client) == [Sample.client(1)])
    #expect(pushes[0].intent == .background && pushes[0].wake == 1)
  }

  /// P4, seed 603: earlier, a read of a new zone, whose creation was answered already, did not wait
  /// for the fold.
  @Test func `a read of a new zone waits for the fold`() {
    var rig = PartitionRig()
    rig.change(.zone(.created))
    let zone = FeedKey(scope: Sample.scope, kind: .zone(Sample.zone))
    #expect(rig.last.contains(.dirtied(.feed(zone))))
  }

  /// P8: the device's own change is logged, marked own, and not pushed to it.
  @Test func `a device is not woken by its own change`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.register(2)
    rig.save("all", everything)
    rig.change(.record(.updated), by: Sample.client(1))
    #expect(rig.partition.ledger.own == 1 && rig.partition.ledger.pending == 1)
    let entry = rig.fold().feed(.zone(Sample.zone))?.deltas.first.map {
      Fold.fold(nil, $0.delta, subject: $0.subject)
    }
    #expect(entry?.life.isOwn(of: Sample.client(1), since: .zero) == true)
    #expect(entry?.life.isOwn(of: Sample.client(2), since: .zero) == false)
    #expect(rig.wake().map(\.device.client) == [Sample.client(2)])
  }

  /// Earlier, a wrong credential that was corrected after three probes left a device unwoken for an
  /// hour.
  @Test func `a wake refused because of a wrong credential costs no budget`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    for number in 0..<5 {
      // Each refusal doubles the pause.
      let pushes = rig.wake(after: 3 + 2 * Double(1 << number))
      #expect(pushes.count == 1)
      for push in pushes {
        rig.ended(push, .later(after: nil, .route, .init("InvalidProviderToken")))
      }
    }
  }

  /// P7: a refused attempt costs no budget, so only the lane's pauses bound the lane's attempts.
  @Test(arguments: [Verdict.Blame.route, .unsent])
  func `a lane that is refused repeatedly backs off`(blame: Verdict.Blame) {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    var attempts = 0
    for _ in 0..<3_600 {
      for push in rig.wake(after: 1) {
        attempts += 1
        rig.ended(push, .later(after: nil, blame, .init("Forbidden")))
      }
    }
    #expect((8...25).contains(attempts), "\(attempts) attempts in an hour")
  }

  /// Earlier, devices that a wrong endpoint called dead rested up to six hours after its
  /// correction.
  @Test func `a renewed route ends the quarantine of all its devices`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    for push in rig.wake() {
      rig.ended(push, .later(after: .hours(6), .quarantine, .init("quarantined: BadDeviceToken")))
    }
    #expect(rig.wake().isEmpty)
    let route = RouteKey(scope: Sample.scope, transport: .apns, topic: Sample.topic)
    rig.partition.renew(route, at: rig.now)
    #expect(rig.wake().count == 1)
  }

  /// P4: a fold does not hold what was stepped after its cut.
  @Test func `a wake waits for the fold of the cut that holds its changes`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.cut()
    rig.change(.record(.created))
    rig.now = rig.now + .seconds(3)
    rig.lines += rig.partition.ready(at: rig.now)
    rig.keep()
    #expect(rig.lines.isEmpty)
    rig.cut()
    #expect(rig.lines.isEmpty)
    rig.keep()
    #expect(rig.lines.count == 1)
  }

  @Test func `a repeated change is a duplicate also after a restart`() {
    var rig = PartitionRig()
    #expect(rig.change(.record(.created), fingerprint: 7) == .accepted)
    #expect(rig.change(.record(.created), fingerprint: 7) == .duplicate)
    var tables = PartitionTables(id: rig.partition.id, cursor: Ordinal(2))
    tables.remembered = rig.fold().remembered
    rig.partition = Partition(tables, limits: Limits(), policy: WakePolicy())
    #expect(rig.change(.record(.created), fingerprint: 7) == .duplicate)
  }

  /// P12: what was pending at the restart was not matched in this life.
  @Test func `a restart counts pending deliveries as recovered`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    var tables = PartitionTables(id: rig.partition.id, cursor: Ordinal(3))
    tables.devices = rig.fold().devices
    rig.partition = Partition(tables, limits: Limits(), policy: WakePolicy())
    var found = Ledger()
    (found.recovered, found.pending) = (1, 1)
    #expect(rig.partition.ledger == found)
  }

  @Test func `deleting a subscription withdraws its pending deliveries`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    rig.step(
      .modify(
        SubscriptionsRequest(
          scope: Sample.scope, user: Sample.owner, database: .private,
          operations: [.delete(SubscriptionID("all")), .delete(SubscriptionID("none"))])))
    #expect(rig.partition.ledger.withdrawn == 1 && rig.partition.ledger.isBalanced)
    #expect(rig.wake().isEmpty)
  }

  @Test func `a subscription fires only for changes accepted after it`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.change(.record(.created))
    rig.save("all", everything)
    #expect(rig.partition.ledger.matched == 0)
    rig.change(.record(.updated))
    #expect(rig.partition.ledger.matched == 1)
    #expect(
      rig.save("twin", everything)
        == .subscriptions([
          .refused(SubscriptionID("twin"), .duplicateSubscription(of: SubscriptionID("all")))
        ]))
  }

  @Test func `a refusal names the limit that is reached`() {
    var limits = Limits()
    limits.subscriptionsPerUser = 1
    limits.devicesPerUser = 1
    limits.participantsPerZone = 1
    var rig = PartitionRig(limits: limits)
    rig.save("all", everything)
    #expect(
      rig.save("more", .zone(Sample.zone, recordType: nil))
        == .subscriptions([
          .refused(SubscriptionID("more"), .tooManySubscriptions(max: 1))
        ]))
    rig.register(1)
    #expect(rig.register(2) == .refused(.tooManyDevices(max: 1)))
    #expect(rig.register(1) == .registered(Sample.client(1)))
    rig.change(.granted(UserID("_u1")))
    #expect(rig.change(.granted(UserID("_u2"))) == .refused(.tooManyParticipants(max: 1)))
    #expect(rig.change(.granted(UserID("_u1"))) == .accepted)
  }

  /// Only retired registrations are removed, the oldest first.
  @Test func `retired registrations make room for new devices`() {
    var limits = Limits()
    limits.devicesPerUser = 3
    var rig = PartitionRig(limits: limits)
    for client in 1...3 as ClosedRange<UInt64> { rig.register(client) }
    rig.hear(displaced(registration: 1), 1)
    rig.hear(displaced(registration: 3, of: 3), 2)
    #expect(rig.register(4) == .registered(Sample.client(4)))
    #expect(rig.register(5) == .registered(Sample.client(5)))
    #expect(rig.register(6) == .refused(.tooManyDevices(max: 3)))
    let cut = rig.fold()
    #expect(Set(cut.devicesRemoved.map(\.client)) == [Sample.client(1), Sample.client(3)])
    #expect(rig.partition.ledger.isBalanced)
  }

  /// A push waits for the budget; a message over the courier needs no budget.
  @Test func `a device that connects is told at once what waits for its budget`() {
    var policy = WakePolicy()
    policy.background = Budget.Rule(max: 1, per: .hours(1))
    var rig = PartitionRig(policy: policy)
    rig.register(1)
    rig.save("db", .database(recordType: nil))
    rig.change(.record(.created))
    for attempt in rig.wake() { rig.ended(attempt, .delivered) }
    rig.change(.record(.created, "A2"))
    #expect(rig.wake().isEmpty)
    let key = DeviceKey(scope: Sample.scope, user: Sample.owner, client: Sample.client(1))
    rig.partition.connected(key, 1, after: nil, at: rig.now, &rig.effects)
    #expect(rig.partition.ready(at: rig.now).map(\.route.transport) == [.courier])
  }

  @Test func `a device that disconnects before it is told over the courier is pushed to`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("db", .database(recordType: nil))
    let key = DeviceKey(scope: Sample.scope, user: Sample.owner, client: Sample.client(1))
    rig.partition.connected(key, 1, after: nil, at: rig.now, &rig.effects)
    rig.change(.record(.created))
    rig.fold()
    rig.now = rig.now + .seconds(3)
    #expect(rig.partition.ready(at: rig.now).map(\.route.transport) == [.courier])
    rig.partition.left(key, 1, isExpectedBack: false, at: rig.now)
    #expect(rig.partition.ready(at: rig.now).map(\.route.transport) == [.apns])
  }

  @Test func `a displaced device is not woken until it registers again`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    rig.hear(displaced(registration: 99), 1)
    #expect(rig.partition.ledger.retired == 0, "it was about another registration")
    rig.hear(displaced(registration: 1), 2)
    #expect(rig.partition.ledger.retired == 1 && rig.wake().isEmpty)
    let row = rig.cuts.last?.devices.first ?? rig.fold().devices.first
    rig.register(1)
    rig.change(.record(.updated))
    #expect(rig.wake().count == 1)
    #expect(row?.address.token.isEmpty != false)
  }

  /// P5, seed 2197: earlier, a dead device whose address another device took over got a second
  /// reason, which was never reported to the app's servers.
  @Test func `a retired device keeps the reason that was reported`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    rig.ended(rig.wake()[0], .gone(at: nil, .init("Unregistered")))
    rig.hear(displaced(registration: 1), 1)
    let cut = rig.fold()
    #expect(cut.feedback.map(\.news) == [.retired(reason: "Unregistered", since: nil)])
    #expect(cut.devices.map(\.lane.retirement?.reason) == ["Unregistered"])
    #expect(cut.devices.map(\.address.token) == [[]])
  }

  /// P9, seed 1454: earlier, a device registered its address again while the message of its
  /// displacement was under way; the message ended the new registration, and pushes went to the
  /// other device's user.
  @Test func `the displacement of an old registration does not end a new one`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.register(1)
    rig.hear(displaced(registration: 1), 1)
    rig.change(.record(.created))
    #expect(rig.wake().map(\.device.client) == [Sample.client(1)])
  }

  private func displaced(registration: UInt64, of client: UInt64 = 1) -> Forwarded.Message {
    .displaced(
      Displacement(
        device: DeviceKey(
          scope: Sample.scope, user: Sample.owner, client: Sample.client(client)),
        registration: Ordinal(registration)))
  }

  @Test func `a gone verdict counts only for its own registration`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    let attempt = rig.wake()[0]
    let old = Verdict.gone(at: Sample.start - Span.seconds(1), .init("Unregistered"))
    let believed = rig.partition.believed(old, of: attempt.id)
    #expect(
      believed == .later(after: nil, .device, .init("Unregistered")),
      "the address was registered after that time")
    let new = Verdict.gone(at: Sample.start + .seconds(1), .init("Unregistered"))
    #expect(rig.partition.believed(new, of: attempt.id) == new)
    rig.ended(attempt, believed)
    #expect(rig.partition.ledger.pending == 1)
    #expect(rig.wake(after: 0.5).isEmpty, "it is asked again after a rest, not at once")
    let again = rig.wake()[0]
    rig.register(1)
    rig.ended(again, .gone(at: nil, .init("BadDeviceToken")))
    #expect(rig.partition.ledger.pending == 1, "it was registered again meanwhile")
    let last = rig.wake()[0]
    rig.ended(last, .gone(at: nil, .init("BadDeviceToken")))
    #expect(rig.partition.ledger.retired == 1 && rig.partition.ledger.isBalanced)
    rig.ended(last, .delivered)
    #expect(rig.partition.ledger.woken == 0, "a repeated verdict changes nothing")
  }

  /// P5: a push to the old address says nothing about the new one.
  @Test func `a wake delivered to a replaced address is sent again`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    let attempt = rig.wake()[0]
    rig.register(1, address: Sample.address(77))
    rig.ended(attempt, .delivered)
    #expect(rig.partition.ledger.pending == 1 && rig.partition.ledger.woken == 0)
    #expect(rig.wake().map(\.address) == [Sample.address(77)])
  }

  /// A lane in the queue of a route is not woken by that route after its device has moved.
  @Test func `a device that moved is woken by its new route`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    rig.now = .s(3)
    for _ in 0..<3 {
      rig.lines += rig.partition.ready(at: rig.now)
      rig.fold()
    }
    #expect(rig.lines.count == 1)
    let moved = Address(transport: .apns, topic: "com.example.other", token: [1])
    rig.register(1, address: moved)
    let stale = rig.lines.compactMap { rig.partition.begin($0, at: rig.now) }
    rig.lines = []
    #expect(stale.isEmpty)
    let attempts = rig.wake()
    #expect(attempts.map(\.route.topic) == ["com.example.other"])
    #expect(attempts.map(\.address) == [moved])
  }

  /// P4, seed 103: earlier, a due lane named a zone that changed after the last fold.
  @Test func `a due wake tells only of folded changes`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    rig.now = .s(3)
    for _ in 0..<2 {
      rig.lines += rig.partition.ready(at: rig.now)
      rig.fold()
    }
    let history = ZoneID(name: "History", owner: Sample.owner)
    rig.change(.record(.created), in: history)
    let first = rig.lines.compactMap { rig.partition.begin($0, at: rig.now) }
    rig.lines = []
    #expect(first.map { $0.text.contains("History") } == [false])
    for attempt in first { rig.ended(attempt, .delivered) }
    #expect(rig.wake().map { $0.text.contains("[[\"History\"") } == [true])
    #expect(rig.partition.ledger.woken == 1 && rig.partition.ledger.pending == 1)
  }

  @Test func `signing out withdraws the device's deliveries and removes the device`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", everything)
    rig.change(.record(.created))
    let attempt = rig.wake()[0]
    rig.step(
      .unregister(
        Unregistration(
          scope: Sample.scope, user: Sample.owner, device: .token(Sample.address(1).token))))
    #expect(rig.partition.ledger.withdrawn == 1 && rig.partition.ledger.isBalanced)
    rig.ended(attempt, .delivered)
    #expect(rig.partition.ledger.woken == 0)
    #expect(rig.fold().devicesRemoved.map(\.client) == [Sample.client(1)])
  }
}
