import Foundation
import Testing
import ZoneRelayTesting
@testable import ZoneRelayClient

@Suite struct ExpiryTests {
  @Test func `an expired token reads only the zones that differ`() async throws {
    let rig = try Rig()
    let zones = (0..<1_000).map { ZoneID(name: "zone \($0)", owner: "_alice") }
    for zone in zones { await rig.relay.save(TestRecord("a"), in: zone) }
    try await rig.client.fetchAllChanges()
    #expect(await rig.sink.zones.count == 1_000)
    // Since that fetch the relay has changed ten zones, and only the database's token has expired.
    for zone in zones.prefix(10) { await rig.relay.save(TestRecord("b"), in: zone) }
    let expiring = ExpiringTransport(rig.relay)
    let client = try ZoneRelayClient(
      rig.relay.address, state: rig.store, sink: rig.sink, transport: expiring, clock: rig.clock,
      credentials: { try await rig.account.token($0) })
    let before = await rig.relay.requests.count
    let report = try await client.fetchAllChanges(.database(.private))
    #expect(report.zones == Set(zones.prefix(10)))
    let asked = await rig.relay.requests.dropFirst(before)
    let read = asked.filter { $0.url.path.hasSuffix("changes/zone") }
    #expect(read.reduce(0) { $0 + $1.zoneCount } == 10)
    let bytes = asked.reduce(0) { $0 + ($1.body?.count ?? 0) }
    print("1,000 zones, 10 changed: \(asked.count) requests, \(bytes) bytes sent")
  }

  @Test func `after all tokens expired each zone is read anew, in a frame`() async throws {
    let rig = try Rig()
    await rig.relay.setPageEntries(2)
    for name in ["a", "b", "c"] { await rig.relay.save(TestRecord(name), in: Rig.notes) }
    try await rig.client.fetchAllChanges()
    await rig.relay.expireTokens()
    await rig.relay.delete("b", in: Rig.notes)
    let pages = await rig.sink.pages.count
    try await rig.client.fetchAllChanges()
    let frame = await rig.sink.pages.dropFirst(pages)
    #expect(frame.first?.startsOver == true)
    #expect(frame.filter(\.startsOver).count == 1)
    #expect(frame.last?.isLast == true)
    #expect(await rig.sink.zones[Rig.notes]?.keys.sorted() == ["a", "c"])
  }

  @Test func `a zone that the digest does not name is removed`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    await rig.relay.save(TestRecord("a"), in: Rig.shared)
    await rig.relay.share(Rig.shared, with: "_alice")
    try await rig.client.fetchAllChanges()
    await rig.relay.share(Rig.shared, with: "_alice", false)
    await rig.relay.expireTokens()
    try await rig.client.fetchAllChanges()
    #expect(await rig.sink.losses == [Rig.shared: .unseen])
    #expect(await rig.sink.zones.keys.sorted() == [Rig.notes])
  }

  /// A client whose tokens have expired after a change that it has not fetched.
  private static func expiredWithNews() async throws -> Rig {
    let rig = try Rig()
    _ = try await rig.client.prepare([.database("all", .private)])
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    await rig.relay.save(TestRecord("b"), in: Rig.notes)
    await rig.relay.expireTokens()
    return rig
  }

  @Test func `expired notifications fetch the databases`() async throws {
    let rig = try await Self.expiredWithNews()
    let report = try await rig.client.fetchAllChanges(.notifications)
    #expect(report.zones == [Rig.notes])
    #expect(await rig.sink.notificationPages.last?.startsOver == true)
  }

  /// The relay answers that the token has expired, and the client's next request is lost. In the
  /// second case the process then ends, too.
  @Test(arguments: [false, true])
  func `the page after expired notifications starts over, also after a failure`(isRestarted: Bool)
    async throws
  {
    let rig = try await Self.expiredWithNews()
    let before = await rig.requests(to: "notifications/changes")
    await rig.relay.fail { request in
      guard request.url.path.hasSuffix("notifications/changes") else { return nil }
      return await rig.requests(to: "notifications/changes") == before + 2 ? .unreachable : nil
    }
    await #expect(throws: RelayError.self) {
      try await rig.client.fetchAllChanges(.notifications)
    }
    let pages = await rig.sink.notificationPages.count
    let client = isRestarted ? try rig.restarted() : rig.client
    let report = try await client.fetchAllChanges(.notifications)
    #expect(report.zones == [Rig.notes])
    #expect(await rig.sink.notificationPages.dropFirst(pages).map(\.startsOver) == [true])
  }

  @Test func `a database that expires again and again is an error`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    await rig.relay.fail { request in
      if request.url.path.hasSuffix("private/changes/database") { await rig.relay.expireTokens() }
      return nil
    }
    let error = await #expect(throws: RelayError.self) {
      try await rig.client.fetchAllChanges(.database(.private))
    }
    #expect(error?.code == .badAnswer)
  }

  @Test func `all pages of a digest have the token of the first`() async throws {
    let rig = try Rig()
    await rig.relay.setPageEntries(1)
    for name in ["A", "B"] { await rig.relay.create(ZoneID(name: name, owner: "_alice")) }
    for _ in 1...2 { try await rig.client.fetchAllChanges(.database(.private)) }
    let held = try #require(
      await rig.relay.requests.last(where: { $0.url.path.hasSuffix("changes/database") }))
    await rig.relay.expireTokens()
    let first = try Self.members(await rig.relay.send(held))
    let digest = try #require(first["digestToken"])
    await rig.relay.create(ZoneID(name: "C", owner: "_alice"))
    var next = held
    next.body = Data(#"{"digestToken":"\#(digest)"}"#.utf8)
    #expect(try Self.members(await rig.relay.send(next))["syncToken"] == first["syncToken"])
  }

  /// The texts among an answer's members.
  private static func members(_ answer: RelayAnswer) throws -> [String: String] {
    let json = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any] ?? [:]
    return json.compactMapValues { $0 as? String }
  }
}

/// Changes the token in the first request about a database into one of an earlier era, which the
/// relay in memory answers as expired. A trim that removed the history of the database alone has
/// the same effect.
private actor ExpiringTransport: RelayTransport {
  private let relay: InMemoryRelay
  private var isFirst = true

  init(_ relay: InMemoryRelay) { self.relay = relay }

  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    var request = request
    if isFirst, request.url.path.hasSuffix("changes/database"), let body = request.body {
      isFirst = false
      let text = String(decoding: body, as: UTF8.self)
      request.body = text.replacing("\"1~", with: "\"0~").data(using: .utf8)
    }
    return try await relay.send(request)
  }
}
