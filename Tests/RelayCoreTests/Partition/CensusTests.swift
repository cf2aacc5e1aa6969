import Testing

@testable import RelayCore

/// The counts of lanes that operators see are updated with each input, and cost no visit to all
/// lanes.
@Suite struct CensusTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `the counts equal those of a visit to every lane`(seed: UInt64) {
    var draw = SeededRandom(seed: seed)
    var policy = WakePolicy()
    policy.smearing.above = 64
    policy.smearing.rate = 64
    var rig = PartitionRig(policy: policy)
    let users = users(4, inHomeOf: Sample.owner, true)
    var flying: [PushAttempt] = []
    var seen: Set<Lane.Stage> = []
    for turn in 1...600 as ClosedRange<UInt64> {
      let (user, client) = (draw.pick(users), UInt64(draw.below(3) + 1))
      let key = DeviceKey(scope: Sample.scope, user: user, client: Sample.client(client))
      switch draw.below(9) {
      case 0: rig.register(client, of: user)
      case 1: rig.save("q", .query(QueryRule(recordType: "Article")), .public, of: user)
      case 2, 3, 4: rig.publish(turn)
      case 5: flying += rig.wake(after: Double(draw.below(20)))
      case 6 where !flying.isEmpty:
        rig.ended(flying.removeFirst(), draw.pick(Self.verdicts))
      case 7:
        rig.partition.served(.notifications(Position(Ordinal(rig.ordinal))), by: key, at: rig.now)
      default:
        guard draw.chance(10) else { continue }
        rig.step(
          .unregister(
            Unregistration(scope: Sample.scope, user: user, device: .client(key.client))))
      }
      var census = Census()
      rig.partition.count(into: &census, at: rig.now)
      let visited = rig.partition.visited(at: rig.now)
      #expect(census.parts == visited.parts)
      let devices = rig.partition.devices
      seen.formUnion(devices.indices.map { devices[$0].lane.state.stage })
      let resting = devices.indices.filter { devices[$0].lane.state.stage == .resting }
      #expect(devices.counts.resting == Set(resting))
    }
    #expect(seen.count >= 6, "the draws lead lanes through their stages: \(seen)")
  }

  private static let verdicts: [Verdict] = [
    .delivered, .later(after: nil, .device, Verdict.Reason("busy")),
    .gone(at: nil, Verdict.Reason("Unregistered")),
  ]

  @Test func `the status count visits no device at rest`() {
    let factor = Growth.factor(from: 200, to: 6_400, Self.registered) { rig in
      for _ in 0..<50 {
        var census = Census()
        rig.partition.count(into: &census, at: rig.now)
      }
    }
    #expect(factor < 6)
  }

  @Test func `a renewed route visits only the devices that wait for it`() {
    let factor = Growth.factor(from: 200, to: 6_400, Self.registered) { rig in
      for _ in 0..<50 {
        let route = RouteKey(scope: Sample.scope, transport: .apns, topic: Sample.topic)
        rig.partition.renew(route, at: rig.now)
        rig.lines += rig.partition.ready(at: rig.now)
      }
    }
    #expect(factor < 6)
  }

  @Test func `a change of one lane visits no other lane that waits`() {
    func glance(_ seconds: Int) -> LaneCounts.Glance {
      LaneCounts.Glance(stage: .due, freshSince: .s(Double(seconds)), slot: .zero)
    }
    func waiting(_ count: Int) -> LaneCounts {
      var counts = LaneCounts()
      for device in 0..<count { counts.move(device, from: nil, to: glance(device)) }
      return counts
    }
    let factor = Growth.factor(from: 200, to: 6_400, waiting) { counts in
      for round in 1...50 {
        counts.move(0, from: glance(round - 1), to: glance(round))
        counts.move(0, from: glance(round), to: glance(round - 1))
      }
    }
    #expect(factor < 6)
  }

  /// A zone that ended waits a day for late numbers. A tick visits only the zones whose time has
  /// come, however many others wait.
  @Test func `a tick visits no zone whose time has not come`() {
    let factor = Growth.factor(from: 200, to: 3_200, Self.ended) { rig in
      for _ in 0..<20 {
        let first = Int64(rig.ordinal) * 10
        rig.numbered(first)
        rig.numbered(first + 2)
        let isDue = rig.isTickDue(after: 31)
        #expect(isDue)
        rig.step(.tick)
        #expect(rig.partition.zonesWithGap == 1)
        rig.change(.zone(.reset))
      }
    }
    #expect(factor < 6)
  }

  /// Each call of `Relay.wake` asks every partition whether a tick is due.
  @Test func `the check for a due tick visits no zone`() {
    let factor = Growth.factor(from: 200, to: 3_200, Self.ended) { rig in
      for _ in 0..<200 {
        let isDue = rig.isTickDue(after: 0)
        #expect(!isDue)
      }
    }
    #expect(factor < 6)
  }

  private static func ended(_ count: Int) -> PartitionRig {
    var rig = PartitionRig()
    for index in 0..<count {
      let zone = ZoneID(name: "z\(index)", owner: Sample.owner)
      rig.numbered(1, in: zone)
      rig.numbered(2, .zone(.deleted), in: zone)
    }
    return rig
  }

  private static func registered(_ count: Int) -> PartitionRig {
    var rig = PartitionRig()
    let users = users(400, inHomeOf: Sample.owner, true)
    for index in 0..<count {
      rig.register(UInt64(index + 1), of: users[index % users.count])
    }
    _ = rig.partition.ready(at: rig.now)
    rig.fold()
    return rig
  }
}

extension Census {
  fileprivate var parts: [Int64] {
    [
      lanes.idle, lanes.gathering, lanes.due, lanes.inFlight, lanes.resting, lanes.watching,
      lanes.retired, devices, smeared,
    ].map(Int64.init) + [oldestPending?.milliseconds ?? -1]
  }
}

extension Partition {
  /// The census by a visit to every device.
  fileprivate func visited(at now: Instant) -> Census {
    var census = Census()
    let lanes = devices.indices.map { devices[$0].lane }
    func count(_ stage: Lane.Stage) -> Int { lanes.count { $0.state.stage == stage } }
    census.lanes.idle = count(.idle)
    census.lanes.gathering = count(.gathering)
    census.lanes.due = count(.due)
    census.lanes.inFlight = count(.inFlight)
    census.lanes.resting = count(.resting)
    census.lanes.watching = count(.watching)
    census.lanes.retired = count(.retired)
    census.devices = lanes.count
    census.smeared = lanes.count { $0.pending.isFresh && !$0.hasNews(at: now) }
    census.oldestPending = lanes.compactMap(\.freshSince).min()
    return census
  }
}
