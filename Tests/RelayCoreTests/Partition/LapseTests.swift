import Testing

@testable import RelayCore

/// Devices that only the courier can reach, and whose courier address has lapsed.
@Suite struct LapseTests {
  private func address(_ number: UInt64) -> Address {
    Address(transport: .courier, topic: "", token: [1, UInt8(truncatingIfNeeded: number)])
  }

  private func rig(devices: Int = 3) -> PartitionRig {
    var limits = Limits()
    limits.devicesPerUser = devices
    return PartitionRig(limits: limits)
  }

  private func retirement(_ rig: PartitionRig, _ client: UInt64) -> String? {
    let user = rig.partition.users.find(Sample.owner, in: Sample.scope)
    return user.flatMap { rig.partition.devices.find(Sample.client(client), of: $0) }
      .flatMap { rig.partition.devices[$0].lane.retirement?.reason }
  }

  private func key(_ client: UInt64) -> DeviceKey {
    DeviceKey(scope: Sample.scope, user: Sample.owner, client: Sample.client(client))
  }

  private func lapse(_ rig: inout PartitionRig) -> [Effect] {
    var effects: [Effect] = []
    rig.partition.retireLapsed(at: rig.now, &effects)
    return effects
  }

  @Test func `a lapsed courier address retires its device, an APNs address does not`() {
    var rig = rig()
    rig.register(1, address: address(1))
    rig.register(2)
    #expect(rig.partition.nextTimer == rig.now + .hours(12))
    rig.now = rig.now + .hours(12)
    #expect(lapse(&rig).contains(.dirtied(.devices(Sample.scope, Sample.owner))))
    #expect(retirement(rig, 1) == "lapsed" && retirement(rig, 2) == nil)
    rig.register(1, address: address(9))
    #expect(retirement(rig, 1) == nil, "another address brings it back")
    rig.now = rig.now + .hours(12)
    _ = lapse(&rig)
    #expect(retirement(rig, 1) == "lapsed")
  }

  @Test func `a connected or newly registered device does not lapse`() {
    var rig = rig()
    rig.register(1, address: address(1))
    rig.register(2, address: address(2))
    rig.partition.connected(key(1), 7, after: nil, at: rig.now, &rig.effects)
    rig.now = rig.now + .hours(11)
    rig.register(2, address: address(2))
    rig.now = rig.now + .hours(1)
    _ = lapse(&rig)
    #expect(retirement(rig, 1) == nil && retirement(rig, 2) == nil)
    rig.partition.left(key(1), 7, isExpectedBack: false, at: rig.now)
    rig.now = rig.now + .minutes(1)
    _ = lapse(&rig)
    #expect(retirement(rig, 1) == "lapsed" && retirement(rig, 2) == nil)
  }

  /// A poll that says which wake it has received last comes from a client that read the answer to
  /// its earlier poll.
  @Test(arguments: [nil, 0, 4] as [UInt32?])
  func `a poll counts as a fetch if it names the last wake`(after: UInt32?) {
    var rig = rig()
    rig.register(1, address: address(1))
    rig.now = rig.now + .hours(1)
    rig.partition.connected(key(1), 7, after: after, at: rig.now, &rig.effects)
    #expect(rig.partition.devices[0].lane.lastFetch == after.map { _ in rig.now })
  }

  @Test func `a courier address lapses after a restart too`() {
    var rig = rig()
    rig.register(1, address: address(1))
    rig.register(2)
    var tables = PartitionTables(id: rig.partition.id, cursor: Ordinal(rig.ordinal))
    tables.devices = rig.fold().devices
    tables.time = rig.now
    let lapsesAt = rig.now + .hours(12)
    rig.partition = Partition(tables, limits: Limits(), policy: WakePolicy())
    #expect(rig.partition.nextTimer == lapsesAt)
    rig.now = lapsesAt
    _ = lapse(&rig)
    #expect(retirement(rig, 1) == "lapsed" && retirement(rig, 2) == nil)
  }

  /// Earlier, a user who had as many devices as allowed, and none that a push could reach, could
  /// never register another device.
  @Test func `a refused registration says when a lapsed device makes room`() {
    var rig = rig(devices: 2)
    rig.register(1, address: address(1))
    rig.now = rig.now + .hours(1)
    rig.register(2)
    #expect(rig.register(3) == .refused(.tooManyDevices(max: 2, roomIn: .hours(11))))
    // No timer has fired: the registration itself finds the lapsed device.
    rig.now = rig.now + .hours(11)
    #expect(rig.register(3) == .registered(Sample.client(3)))
    #expect(rig.fold().devicesRemoved.map(\.client) == [Sample.client(1)])
  }

  @Test func `lapsed devices make room before other retired devices`() {
    var rig = rig(devices: 2)
    rig.register(1, address: address(1))
    rig.register(2)
    let displacement = Displacement(device: key(2), registration: Ordinal(2))
    rig.hear(.displaced(displacement), 1)
    rig.now = rig.now + .hours(13)
    _ = lapse(&rig)
    #expect(retirement(rig, 1) == "lapsed" && retirement(rig, 2) == "displaced")
    rig.register(3)
    #expect(rig.fold().devicesRemoved.map(\.client) == [Sample.client(1)])
  }

  @Test func `a device's row has the last verdict`() {
    var rig = rig()
    rig.register(1)
    rig.save("all", .database(recordType: nil))
    rig.change(.record(.created))
    rig.fold()
    for attempt in rig.wake() { rig.ended(attempt, .delivered) }
    let record = rig.fold().devices.first?.lane
    #expect(record?.lastVerdict != nil)
    #expect(record.map { Lane($0, folded: .zero).lastVerdict } == record?.lastVerdict)
  }

  @Test func `the oldest pending time ignores notifications of a lapsed device`() {
    var rig = rig()
    rig.register(1, address: address(1))
    rig.save("all", .database(recordType: nil))
    rig.change(.record(.created))
    var census = Census()
    rig.partition.count(into: &census, at: rig.now)
    #expect(census.oldestPending == rig.now)
    rig.now = rig.now + .hours(12)
    _ = lapse(&rig)
    census = Census()
    rig.partition.count(into: &census, at: rig.now)
    #expect(census.lanes.retired == 1)
    #expect(census.oldestPending == nil)
  }

  /// P11: each slot has one timer, however often devices come and go.
  @Test func `repeated registering and signing out leaves no timers behind`() {
    var rig = rig()
    for _ in 0..<50 {
      rig.register(1, address: address(1))
      rig.step(
        .unregister(
          Unregistration(
            scope: Sample.scope, user: Sample.owner, device: .client(Sample.client(1)))))
    }
    #expect(rig.partition.devices.lapsesWaiting == 1)
    rig.now = rig.now + .hours(13)
    _ = lapse(&rig)
    #expect(rig.partition.devices.lapsesWaiting == 0)
  }

  @Test func `signing out closes a device's connection at the courier, if there is one`() {
    var rig = rig()
    for client in UInt64(1)...2 { rig.register(client, address: address(client)) }
    rig.partition.connected(key(1), 7, after: nil, at: rig.now, &rig.effects)
    for client in UInt64(1)...2 {
      rig.step(
        .unregister(
          Unregistration(
            scope: Sample.scope, user: Sample.owner, device: .client(Sample.client(client)))))
    }
    #expect(rig.effects.contains(.hangUp(key(1))) && !rig.effects.contains(.hangUp(key(2))))
  }
}
