import Testing

@testable import RelayCore

/// The relay wakes a device of the doctor like any other device, but counts it in no number that
/// operators see.
@Suite struct DoctorDeviceTests {
  private let zone = ZoneID(name: "doctor-1", owner: .doctor)
  private let key = DeviceKey(scope: Sample.scope, user: .doctor, client: Sample.client(1))

  /// A connected device of the doctor with a subscription to its zone.
  private func rig() -> PartitionRig {
    var rig = PartitionRig(.doctor)
    let address = Address(transport: .courier, topic: "", token: [1])
    rig.register(1, of: .doctor, address: address)
    rig.save("doctor-1", .zone(zone, recordType: nil), of: .doctor)
    rig.partition.connected(key, 7, after: nil, at: rig.now, &rig.effects)
    return rig
  }

  private func isUncounted(_ rig: inout PartitionRig) -> Bool {
    var census = Census()
    rig.partition.count(into: &census, at: rig.now)
    return rig.partition.ledger == Ledger() && census.lanes == Census.Lanes()
      && census.devices == 0 && census.oldestPending == nil
  }

  @Test func `a change on its way to the doctor's device changes no count`() throws {
    var rig = rig()
    #expect(isUncounted(&rig))
    rig.change(.record(.created), in: zone)
    #expect(isUncounted(&rig))
    let attempts = rig.wake()
    let attempt = try #require(attempts.first)
    #expect(attempt.route.transport == .courier && attempt.text.contains("doctor-1"))
    #expect(isUncounted(&rig))
    rig.ended(attempt, .delivered)
    let position = Position(Ordinal(rig.ordinal))
    rig.partition.served(.zone(zone, .private, position), by: key, at: rig.now)
    let user = try #require(rig.partition.users.find(.doctor, in: Sample.scope))
    let device = try #require(rig.partition.devices.find(key.client, of: user))
    #expect(rig.partition.devices[device].lane.pending.isEmpty)
    #expect(isUncounted(&rig))
    rig.step(
      .unregister(
        Unregistration(scope: Sample.scope, user: .doctor, device: .client(key.client))))
    rig.fold()
    #expect(isUncounted(&rig))
  }

  /// The devices of all doctors belong to one user. A change by another doctor fires for all of
  /// these devices. A change that one of the devices made does not wake that device.
  @Test func `merged, own and withdrawn deliveries to doctors' devices change no count`() {
    var rig = rig()
    let other = Address(transport: .courier, topic: "", token: [2])
    rig.register(2, of: .doctor, address: other)
    rig.change(.record(.created), in: zone, by: key.client)
    rig.change(.record(.updated), in: zone)
    rig.fold()
    #expect(isUncounted(&rig))
    rig.change(.zone(.deleted), in: zone)
    rig.fold()
    #expect(isUncounted(&rig))
  }

  /// A doctor that was killed leaves its device. After a restart the device still counts nowhere,
  /// and no app's server hears that it was retired.
  @Test func `a device that a killed doctor left changes no count and makes no feedback`() {
    var rig = rig()
    rig.change(.record(.created), in: zone)
    var tables = PartitionTables(id: rig.partition.id, cursor: Ordinal(rig.ordinal))
    let cut = rig.fold()
    (tables.devices, tables.subscriptions) = (cut.devices, cut.subscriptions)
    tables.time = rig.now
    rig.partition = Partition(tables, limits: Limits(), policy: WakePolicy())
    #expect(cut.devices.first?.lane.pending.deliveries == 1)
    #expect(isUncounted(&rig))
    rig.now = rig.now + Limits().courierAddressFor
    rig.partition.retireLapsed(at: rig.now, &rig.effects)
    let later = rig.fold()
    #expect(later.devices.first?.lane.retirement?.reason == "lapsed")
    #expect(later.feedback.isEmpty && isUncounted(&rig))
  }

  @Test func `the devices of all other users count`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("zones", .zone(Sample.zone, recordType: nil))
    rig.change(.record(.created))
    #expect(rig.partition.ledger.matched == 1 && rig.partition.ledger.pending == 1)
    #expect(Ledgers.Account(of: Sample.owner) == .apps)
    #expect(Ledgers.Account(of: UserID("_zonerelay-doctor2")) == .apps)
    #expect(Ledgers.Account(of: UserID("_zonerelay-doctor")) == .doctor)
  }
}
