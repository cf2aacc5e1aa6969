import Foundation
import Testing
import ZoneRelayTesting
@testable import ZoneRelayClient

@Suite struct OneFlightTests {
  /// The first round is held until all wakes have come.
  @Test func `a hundred wakes at once take at most two rounds`() async throws {
    let rig = try Rig()
    try await rig.client.register(.courier)
    _ = try await rig.client.prepare([.database("all", .private)])
    try await rig.client.fetchAllChanges()
    let gate = Gate()
    await rig.relay.fail { request in
      if request.url.path.hasSuffix("changes/zone") { await gate.pass() }
      return nil
    }
    let before = await rig.requests(to: "changes/zone")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...100 {
        await rig.relay.save(TestRecord("r\(number)"), in: Rig.notes)
        let wake = try #require(await rig.relay.nextWake(for: rig.client.installation))
        group.addTask { try await rig.client.handle(wake) }
        if number == 1 { await gate.untilArrival() }
      }
      while await rig.client.waitingCallers < 99 { await Task.yield() }
      await gate.open()
      try await group.waitForAll()
    }
    #expect(await rig.requests(to: "changes/zone") - before <= 2)
    #expect(await rig.sink.zones[Rig.notes]?.count == 100)
  }

  @Test func `a call during a round returns after a round that began after it`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    let gate = Gate()
    await rig.sink.wait(at: gate)
    async let first = rig.client.fetchAllChanges()
    await gate.untilArrival()
    await rig.relay.save(TestRecord("b"), in: Rig.notes)
    async let second = rig.client.fetchAllChanges()
    while await rig.client.waitingCallers < 1 { await Task.yield() }
    await gate.open()
    #expect(try await first.records == 1)
    #expect(try await second.records == 1)
    #expect(await rig.sink.zones[Rig.notes]?.count == 2)
  }

  @Test func `a wake that comes while a round waits for the user's token shares the round`()
    async throws
  {
    let rig = try Rig()
    try await rig.client.fetchAllChanges()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    let gate = Gate()
    let client = try ZoneRelayClient(
      rig.relay.address, state: rig.store, sink: rig.sink, transport: rig.relay, clock: rig.clock,
      credentials: { reason in
        await gate.pass()
        return try await rig.account.token(reason)
      })
    async let first = client.fetchAllChanges(.notifications)
    await gate.untilArrival()
    let json = #"{"ck":{"ckuserid":"_alice"},"zr":{"w":1,"z":[["Notes","_alice",1]]}}"#
    let wake = try #require(Wake(json: Data(json.utf8)))
    async let second = client.handle(wake)
    while await client.waitingCallers < 1 { await Task.yield() }
    await gate.open()
    #expect(try await second.records == 1)
    #expect(try await first.records == 1)
  }

  @Test func `a cancelled caller disturbs no other`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    let gate = Gate()
    await rig.sink.wait(at: gate)
    let first = Task { try await rig.client.fetchAllChanges() }
    await gate.untilArrival()
    let others = (0..<2).map { _ in Task { try await rig.client.fetchAllChanges() } }
    while await rig.client.waitingCallers < 2 { await Task.yield() }
    others[0].cancel()
    await #expect(throws: CancellationError.self) { try await others[0].value }
    await gate.open()
    #expect(try await first.value.records == 1)
    _ = try await others[1].value
  }

  /// The only caller leaves while the sink has the round's first page.
  private static func stopAfterFirstPage(_ rig: Rig) async throws {
    let gate = Gate()
    await rig.sink.wait(at: gate)
    let only = Task { try await rig.client.fetchAllChanges() }
    await gate.untilArrival()
    only.cancel()
    await #expect(throws: CancellationError.self) { try await only.value }
    await gate.open()
    // This call begins when the stopped round has ended.
    try await rig.client.register(.courier)
    #expect(await rig.sink.pages.count == 1)
  }

  @Test func `a round without callers stops before the next page`() async throws {
    let rig = try Rig()
    await rig.relay.setPageEntries(1)
    for number in 1...5 { await rig.relay.save(TestRecord("r\(number)"), in: Rig.notes) }
    try await Self.stopAfterFirstPage(rig)
    try await rig.client.fetchAllChanges()
    #expect(await rig.sink.zones[Rig.notes]?.count == 5)
  }

  /// One answer of the relay has the pages of all 20 zones.
  @Test func `a round without callers stops before the next zone, and keeps what it has read`()
    async throws
  {
    let rig = try Rig()
    for number in 1...20 {
      await rig.relay.save(TestRecord("a"), in: ZoneID(name: "zone \(number)", owner: "_alice"))
    }
    try await Self.stopAfterFirstPage(rig)
    try await rig.restarted().fetchAllChanges()
    #expect(await rig.sink.zones.count == 20)
    #expect(await rig.sink.pages.count == 20, "no page came twice")
  }

  @Test func `ten thousand cancelled calls leave nothing behind`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    for _ in 0..<100 {
      let calls = (0..<100).map { number in
        Task {
          if number.isMultiple(of: 2) {
            try await rig.client.fetchAllChanges()
          } else {
            try await rig.client.register(.courier)
          }
        }
      }
      for call in calls { call.cancel() }
      for call in calls { _ = await call.result }
    }
    try await rig.client.fetchAllChanges()
    #expect(await rig.client.waitingCallers == 0)
    #expect(await rig.sink.zones[Rig.notes] == ["a": "1"])
  }

  @Test func `a call that is cancelled before it begins is not run`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    let gate = Gate()
    await rig.sink.wait(at: gate)
    let round = Task { try await rig.client.fetchAllChanges() }
    await gate.untilArrival()
    let call = Task { try await rig.client.register(.courier) }
    while await rig.client.waitingCallers < 1 { await Task.yield() }
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    await gate.open()
    _ = try await round.value
    #expect(await rig.requests(to: "tokens/create") == 0)
  }
}

extension ZoneRelayClient {
  /// The number of callers without an answer, except the callers of the running round.
  var waitingCallers: Int { queue.calls.count + queue.fetchers.count }
}

extension RelayRequest {
  /// How many zones a `changes/zone` asks for.
  var zoneCount: Int {
    body.map { String(decoding: $0, as: UTF8.self).ranges(of: "zoneName").count } ?? 0
  }
}
