import RelayCore
import Testing

/// P11: how many registrations of one user are kept, and for how long a retired registration is
/// kept.
@Suite struct DeviceBoundsTests {
  /// Limit: limits.devicesPerUser
  @Test(arguments: [(asked: 2, kept: 2), (3, 3), (4, 3)])
  func `devicesPerUser limits the devices of one user`(asked: Int, kept: Int) {
    var limits = Limits()
    limits.devicesPerUser = 3
    var rig = PartitionRig(limits: limits)
    let answers = (1...UInt64(asked)).map { rig.register($0) }
    let registered = (1...UInt64(kept)).map { Answer.registered(Sample.client($0)) }
    #expect(Array(answers.prefix(kept)) == registered)
    #expect(
      Array(answers.dropFirst(kept))
        == (kept..<asked).map { _ in .refused(.tooManyDevices(max: 3)) })
    #expect(rig.register(1) == registered[0], "a known device needs no room")
    let other = users(1, inHomeOf: Sample.owner, true)[0]
    #expect(rig.register(9, of: other) == .registered(Sample.client(9)))
    #expect(rig.fold().devices.count == kept + 1)
  }

  /// A registration that has been retired for `retiredFor` is removed when its user registers
  /// another device, and not before.
  ///
  /// Limit: limits.retiredFor
  @Test(arguments: [(spare: Int64(-1), isForgotten: false), (0, true), (1, true)])
  func `retiredFor limits how long a retired registration is kept`(spare: Int64, isForgotten: Bool)
  {
    var limits = Limits()
    limits.retiredFor = .hours(2)
    var rig = PartitionRig(limits: limits)
    for client in 1...2 as ClosedRange<UInt64> { rig.register(client) }
    rig.hear(
      .displaced(
        Displacement(
          device: DeviceKey(
            scope: Sample.scope, user: Sample.owner, client: Sample.client(1)),
          registration: Ordinal(1))),
      1)
    rig.now = rig.now + .hours(2) + Span(milliseconds: spare)
    rig.register(2)
    #expect(rig.fold().devicesRemoved.isEmpty, "no other device was registered")
    rig.register(3)
    #expect(
      rig.fold().devicesRemoved.map(\.client) == (isForgotten ? [Sample.client(1)] : []))
  }
}
