import Testing

@testable import RelayCore

/// P9: the zone or grant that a push tells of may end while the push waits for its provider.
@Suite struct RecallTests {
  private func woken(_ database: Database, _ user: UserID) -> (PartitionRig, PushAttempt)? {
    var rig = PartitionRig(user)
    rig.register(1, of: user)
    rig.save("all", .database(recordType: nil), database, of: user)
    if database == .shared {
      rig.hear(.change(rig.make(.granted(user)), at: Sample.position(1)), 1)
      rig.hear(.change(rig.make(.record(.created)), at: Sample.position(2)), 2)
    } else {
      rig.change(.record(.created))
    }
    return rig.wake().first.map { (rig, $0) }
  }

  private func recalls(_ rig: PartitionRig) -> [(attempts: [PushAttempt.ID], place: FactPlace)] {
    rig.last.compactMap { effect in
      if case .recall(let attempts, let place) = effect { (attempts, place) } else { nil }
    }
  }

  @Test(arguments: [ZoneChange.deleted, .purged, .reset])
  func `the end of a zone recalls the push under way`(end: ZoneChange) throws {
    var (rig, attempt) = try #require(woken(.private, Sample.owner))
    rig.change(.zone(end))
    #expect(recalls(rig).map(\.attempts) == [[attempt.id]])
    #expect(recalls(rig).map(\.place.ordinal) == [Ordinal(rig.ordinal)])
  }

  /// The home of the zone answers the revocation, so the recall names the fact of that partition.
  @Test func `the recall after a forwarded revocation names the revocation's fact`() throws {
    let user = users(1, inHomeOf: Sample.owner, false)[0]
    var (rig, attempt) = try #require(woken(.shared, user))
    rig.hear(.change(rig.make(.revoked(user)), at: Sample.position(3)), 3)
    #expect(recalls(rig).map(\.attempts) == [[attempt.id]])
    let source = PartitionID((Int(rig.partition.id.number) + 1) % PartitionID.count)
    #expect(recalls(rig).map(\.place) == [FactPlace(partition: source, ordinal: Ordinal(3))])
  }

  @Test func `a sign-out recalls the device's push and is answered after the recall`() throws {
    var (rig, attempt) = try #require(woken(.private, Sample.owner))
    rig.step(
      .unregister(
        Unregistration(
          scope: Sample.scope, user: Sample.owner, device: .client(Sample.client(1)))))
    #expect(recalls(rig).map(\.attempts) == [[attempt.id]])
    guard case .answer(_, _, _, .settled)? = rig.last.last else {
      return #expect(Bool(false), "answered too early: \(rig.last)")
    }
  }

  /// The token belongs to another device now, which must not get this device's push.
  @Test func `a device that loses its address has its push recalled`() throws {
    var (rig, attempt) = try #require(woken(.private, Sample.owner))
    let device = DeviceKey(scope: Sample.scope, user: Sample.owner, client: Sample.client(1))
    rig.hear(.displaced(Displacement(device: device, registration: Ordinal(1))), 1)
    #expect(recalls(rig).map(\.attempts) == [[attempt.id]])
  }

  @Test func `a recalled push is rebuilt with its wake number and the zones left`() throws {
    var (rig, attempt) = try #require(woken(.private, Sample.owner))
    let other = ZoneID(name: "History", owner: Sample.owner)
    rig.change(.record(.created), in: other)
    rig.change(.zone(.deleted))
    rig.ended(attempt, .later(after: nil, .recalled, .init("taken back")))
    let next = rig.wake()
    #expect(next.count == 1 && next[0].wake == attempt.wake)
    #expect(next.map { $0.text.contains("History") } == [true])
    #expect(rig.partition.ledger.isBalanced)
  }

  @Test func `a recalled push does not count as an outage of its route`() {
    var route = Route(inFlightMax: 100, probe: .seconds(30), outageDevices: 2)
    for device in 0..<5 {
      let id = PushAttempt.ID(partition: PartitionID(0), device: device, serial: UInt64(device + 1))
      route.began(id)
      let subject = Pruning.Subject(
        user: UserID("_user\(device)"), client: Sample.client(1), hasTaken: true)
      _ = route.ended(
        .later(after: nil, .recalled, .init("taken back")), of: id, about: subject, at: .s(0))
    }
    #expect(!route.isStopped && route.inFlight == 0 && route.lastError == nil)
  }
}
