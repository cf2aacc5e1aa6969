import Testing

@testable import RelayCore

/// Transcripts of the entries that the relay makes for the flight recorder.
@Suite struct TraceTests {
  @Test func `a change that is told and fetched makes one entry for each decision`() {
    var rig = TraceRig()
    rig.register()
    rig.save()
    #expect(rig.lines() == ["1 registered apns anew", "subscribed reading"])
    rig.fold()
    rig.change()
    rig.wake()
    rig.acknowledge(.zone(Sample.zone, .private, Position(bits: .max)))
    rig.acknowledge(.zone(Sample.zone, .private, Position(bits: .max)))
    #expect(
      rig.lines() == [
        "change 1", "reading matched 1: 1 pends as ReadingList until 500",
        "1 wake 1 apns [ReadingList] try 1 news", "1 wake 1 ended delivered",
        "1 acknowledged zone",
      ], "nothing pends of a device that never acknowledged, but its first sign is told")
    rig.change()
    rig.wake()
    rig.acknowledge(.zone(Sample.zone, .private, Position(bits: .max)))
    #expect(
      rig.lines() == [
        "change 2", "reading matched 2: 1 pends as ReadingList until 2500",
        "1 wake 2 apns [ReadingList] try 1 news", "1 wake 2 ended delivered",
        "1 acknowledged zone",
      ])
  }

  @Test func `a relay whose trace is off makes no entry`() {
    var rig = TraceRig(isTraced: false)
    rig.register()
    rig.save()
    rig.fold()
    rig.change()
    rig.wake()
    #expect(rig.lines().isEmpty)
  }

  @Test func `a lane that goes on waiting for the budget makes one entry`() {
    var rig = TraceRig { $0.background.max = 1 }
    rig.register()
    rig.save()
    rig.fold()
    rig.change()
    rig.wake()
    _ = rig.lines()
    rig.change()
    for _ in 0..<5 { rig.wait(60) }
    rig.change()
    rig.wait(60)
    #expect(
      rig.lines() == [
        "change 2", "reading matched 2: 1 pends as ReadingList until 2500",
        "1 waits for backgroundBudget until 3602000", "change 3",
        "reading matched 3: 1 pends as ReadingList",
      ])
  }

  /// A lane's first wake waits for the fold that reserves its number.
  @Test func `a fold begins the pushes that waited for it`() {
    var rig = TraceRig.subscribed()
    rig.change()
    rig.now = rig.now + .seconds(2)
    var effects: [Effect] = []
    rig.relay.wake(at: rig.now, into: &effects)
    #expect(!effects.contains { if case .push = $0 { true } else { false } })
    rig.fold()
    #expect(rig.pushes.count == 1)
  }

  /// Very many phones that wait for their budget would otherwise drive everything else out of the
  /// recorder's memory at each start.
  @Test func `only some of the lanes that waited before the restart say so again`() {
    var buffer = TraceBuffer(isOn: true)
    let lanes = 0..<(TraceBuffer.toldAnew + 10)
    for lane in lanes { buffer.waitsSinceBefore(lane) }
    for lane in lanes { buffer.waitsForFold(lane) }
    let told = lanes.filter { buffer.waits($0, for: .time(.backgroundBudget)) }
    #expect(told == Array(0..<TraceBuffer.toldAnew))
    // A lane goes on waiting, begins to wait for something else, ends its wait, waits again.
    let kinds: [DeviceEvent.WaitKind?] = [.time(.backgroundBudget), .time(.slot), nil, .connection]
    let begun = kinds.map { buffer.waits(TraceBuffer.toldAnew, for: $0) }
    #expect(begun == [false, true, false, true])
  }

  /// The tables of a partition whose one device waits for its background budget.
  private static func waiting(in rig: inout TraceRig) -> PartitionTables {
    rig.register()
    rig.save()
    let home = PartitionID.home(of: Sample.owner, in: Sample.scope)
    var tables = PartitionTables(id: home, cursor: Ordinal(3))
    tables.subscriptions = rig.fold().partitions.first { $0.id == home }?.subscriptions ?? []
    rig.change()
    rig.wake()
    rig.change()
    let cut = rig.fold()
    (tables.cursor, tables.time) = (Ordinal(4), cut.at)
    tables.devices = cut.partitions.first { $0.id == home }?.devices ?? []
    return tables
  }

  @Test func `lanes that hold nothing at the restart are not among those that waited`() throws {
    var rig = TraceRig { $0.background.max = 1 }
    var tables = Self.waiting(in: &rig)
    let row = try #require(tables.devices.first)
    let (idle, waiting) = (1, TraceBuffer.toldAnew + 1)
    tables.devices = (1...UInt64(idle + waiting)).map { number in
      var row = row
      row.key.client = Sample.client(number)
      if number == 1 { row.lane.pending = PendingSet() }
      return row
    }
    _ = rig.lines()
    rig.restart(tables)
    rig.wait(60)
    #expect(rig.lines().count { $0.contains("waits for backgroundBudget") } == TraceBuffer.toldAnew)
  }

  @Test func `a wait that begins after the restart makes an entry`() {
    var rig = TraceRig { $0.background.max = 1 }
    let tables = Self.waiting(in: &rig)
    #expect(rig.lines().last?.contains("pends as ReadingList until") == true)
    rig.restart(tables)
    rig.wait(60)
    #expect(rig.lines() == ["1 waits for backgroundBudget until 3602000"])
  }

  @Test func `an own change, a retired device and a removed device are told apart`() {
    var rig = TraceRig { $0.pruning.hold = .zero }
    rig.register(1)
    rig.register(2)
    rig.save()
    rig.fold()
    rig.change(by: Change.Author(user: Sample.owner, client: Sample.client(1)))
    rig.wait(2)
    rig.end(.gone(at: nil, Verdict.Reason("Unregistered")))
    rig.wait(1)
    _ = rig.lines()
    rig.change(by: Change.Author(user: Sample.owner, client: Sample.client(1)))
    rig.unregister(1)
    #expect(
      rig.lines() == [
        "change 2", "reading matched 2: 1 own, 2 retired", "1 unregistered",
      ])
  }

  @Test func `an alert says which alert it replaces, and which one gives way`() {
    var limits = Limits()
    limits.alertsPending = 1
    var rig = TraceRig(limits: limits) { $0.alert.max = 0 }
    rig.register()
    rig.save("all", .database(recordType: nil), visible: true)
    rig.fold()
    _ = rig.lines()
    rig.change()
    rig.change()
    rig.change(in: ZoneID(name: "History", owner: Sample.owner))
    #expect(
      rig.lines() == [
        "change 1", "all matched 1: 1 pends as alert 1 until 500",
        "change 2", "all matched 2: 1 pends as alert 2 until 500 in place of 1",
        "change 3", "all matched 3: 1 pends as alert 3 until 500 crowds out 2",
      ])
  }

  @Test func `a shared zone's change is told where it goes, where it comes and whom it concerns`() {
    var rig = TraceRig()
    let guest = users(1, inHomeOf: Sample.owner, false)[0]
    rig.register(2, of: guest)
    rig.save("shared", .database(recordType: nil), .shared, of: guest)
    rig.fold()
    _ = rig.lines()
    rig.change(.granted(guest))
    rig.forward()
    #expect(
      rig.lines() == [
        "change 1", "forwarded to 1", "reached", "joined ReadingList",
        "shared matched 1: 2 pends as ReadingList until 500",
      ])
    rig.change(.revoked(guest))
    rig.forward()
    #expect(
      rig.lines() == [
        "change 2", "forwarded to 1", "reached", "left ReadingList", "2 withdrawn zone",
        "shared matched 2: 2 pends as ReadingList until 500",
      ])
  }

  @Test func `a wide change says when it begins to spread and when it has spread`() {
    var limits = Limits()
    limits.fanOutSlice = 1
    var rig = TraceRig(limits: limits)
    for user in users(2, inHomeOf: ZoneID.publicDefault.owner, true) {
      rig.save("all", .query(QueryRule(recordType: "Article")), .public, of: user)
    }
    rig.fold()
    _ = rig.lines()
    rig.change(in: .publicDefault, .public)
    #expect(rig.lines().suffix(2) == ["reached", "spreading"])
    rig.change(in: .publicDefault, .public)
    #expect(rig.lines().suffix(2) == ["reached", "spreading"], "it waits behind the first")
    let home = PartitionID.home(of: ZoneID.publicDefault.owner, in: Sample.scope)
    let unfinished = rig.relay.partition(home).unfinished
    #expect(unfinished.count == 1)
  }

  @Test func `a rest, a stopped route and a renewed one are told`() {
    var rig = TraceRig()
    rig.register()
    rig.save()
    rig.fold()
    rig.change()
    rig.wait(2)
    _ = rig.lines()
    rig.end(.later(after: .minutes(1), .device, Verdict.Reason("TooManyRequests")))
    rig.wait(60)
    rig.end(.later(after: nil, .route, Verdict.Reason("InvalidProviderToken")))
    let route = RouteKey(scope: Sample.scope, transport: .apns, topic: Sample.topic)
    rig.relay.withdraw(route, at: rig.now)
    rig.relay.renew(route, at: rig.now)
    let lines = rig.lines()
    #expect(lines[0] == "1 wake 1 ended later rests until 62000")
    #expect(lines[1] == "1 wake 1 apns [ReadingList] try 2 news")
    #expect(lines.filter { $0.hasPrefix("route") }.count == 3)
    #expect(lines.contains("route stopped(\"InvalidProviderToken\")"))
  }

  @Test func `a buffer counts what it has no room for`() {
    for extra in [-1, 0, 1] {
      var buffer = TraceBuffer(isOn: true)
      for _ in 0..<(TraceBuffer.most + extra) { buffer.add(.began, at: Sample.start) }
      var batches: [TraceBatch] = []
      buffer.take(into: &batches)
      #expect(buffer.isEmpty)
      let entries = batches.flatMap(\.entries)
      #expect(entries.count == TraceBuffer.most + extra)
      #expect((entries.last?.event == .lost(1)) == (extra == 1))
    }
  }
}
