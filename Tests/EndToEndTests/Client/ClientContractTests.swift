import Foundation
import Testing
import ZoneRelayClient
import ZoneRelayTesting

/// What the client library relies on is true of the relay in memory and of the daemon.
@Suite(.serialized) struct ClientContractTests {
  enum Kind: CaseIterable { case memory, daemon }

  private static let notes = ZoneID(name: "Notes", owner: "_alice")
  private static let plans = ZoneID(name: "Plans", owner: "_bob")

  /// A relay with one client of `_alice`.
  private struct World {
    let relay: any ContractRelay
    let copy = InMemoryCopy()
    let client: ZoneRelayClient

    init(_ kind: Kind) async throws {
      let relay: any ContractRelay =
        switch kind {
        case .memory: InMemoryRelay()
        case .daemon: try await DaemonRelay.start()
        }
      self.relay = relay
      client = try ZoneRelayClient(
        relay.address, state: StateInMemory(), sink: copy, transport: relay.transport,
        credentials: { _ in try await relay.token(for: "_alice") })
    }

    /// Fetches until the copy is as expected, because a zone that another user shares or withdraws
    /// follows only after a moment.
    func untilCopy(is expected: [ZoneID: [String: String]]) async throws -> Bool {
      try await Pause.until {
        try await client.fetchAllChanges()
        return await copy.zones == expected
      }
    }
  }

  private func inWorld(_ kind: Kind, _ body: (World) async throws -> Void) async throws {
    let world = try await World(kind)
    do {
      try await body(world)
    } catch {
      await world.relay.stop()
      throw error
    }
    await world.relay.stop()
  }

  @Test(arguments: Kind.allCases)
  func `a fetch brings the net state, and the next one what is new`(kind: Kind) async throws {
    try await inWorld(kind) { world in
      let (relay, client) = (world.relay, world.client)
      try await relay.save(TestRecord("a", changeTag: "1"), in: Self.notes, by: nil)
      try await relay.save(TestRecord("b", changeTag: "1"), in: Self.notes, by: nil)
      try await relay.save(TestRecord("a", changeTag: "2"), in: Self.notes, by: nil)
      try await relay.delete("b", in: Self.notes)
      #expect(try await client.fetchAllChanges().zones == [Self.notes])
      #expect(await world.copy.zones == [Self.notes: ["a": "2"]])
      #expect(await world.copy.pages.flatMap(\.deleted).isEmpty, "the copy never had b")
      try await relay.save(
        TestRecord("c", changeTag: "1"), in: Self.notes, by: client.installation)
      try await relay.delete("a", in: Self.notes)
      try await client.fetchAllChanges()
      let page = try #require(await world.copy.pages.last)
      #expect(page.changed.map(\.name) == ["c"])
      #expect(page.changed.map(\.own) == [true])
      #expect(page.deleted.map(\.name) == ["a"])
      #expect(!page.startsOver && page.isLast)
      #expect(try await client.fetchAllChanges().records == 0)
    }
  }

  @Test(arguments: Kind.allCases, [ZoneLoss.deleted, .purged, .reset])
  func `a zone that ends says how`(kind: Kind, loss: ZoneLoss) async throws {
    try await inWorld(kind) { world in
      try await world.relay.save(TestRecord("a"), in: Self.notes, by: nil)
      try await world.client.fetchAllChanges()
      try await world.relay.end(Self.notes, loss)
      try await world.client.fetchAllChanges()
      #expect(await world.copy.losses == [Self.notes: loss])
      // The new record begins a new life of the zone, and the client reads the zone from the start.
      try await world.relay.save(TestRecord("b"), in: Self.notes, by: nil)
      try await world.client.fetchAllChanges()
      #expect(await world.copy.zones == [Self.notes: ["b": "1"]])
      #expect(await world.copy.pages.last?.startsOver == true)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a shared zone is whole, and gone when it is withdrawn`(kind: Kind) async throws {
    try await inWorld(kind) { world in
      try await world.relay.save(TestRecord("a"), in: Self.plans, by: nil)
      try await world.relay.share(Self.plans, with: "_alice", true)
      #expect(try await world.untilCopy(is: [Self.plans: ["a": "1"]]))
      try await world.relay.share(Self.plans, with: "_alice", false)
      let report = try await world.client.fetchAllChanges(.zone(Self.plans))
      #expect(report.zones == [Self.plans])
      #expect(await world.copy.losses == [Self.plans: .unseen])
    }
  }

  /// The client reads a zone because of a wake, before the database's feed has named the zone. The
  /// zone is withdrawn soon, and the client still learns of the zone's end.
  @Test(arguments: Kind.allCases)
  func `a zone that was read because of a wake is removed at its end`(kind: Kind) async throws {
    try await inWorld(kind) { world in
      try await world.client.register(.courier)
      _ = try await world.client.prepare([.database("all", .shared)])
      try await world.client.fetchAllChanges()
      var wakes = world.client.wakes().makeAsyncIterator()
      try await world.relay.save(TestRecord("a"), in: Self.plans, by: nil)
      try await world.relay.share(Self.plans, with: "_alice", true)
      try await world.client.handle(try #require(try await wakes.next()))
      #expect(await world.copy.zones == [Self.plans: ["a": "1"]])
      try await world.relay.share(Self.plans, with: "_alice", false)
      #expect(try await world.untilCopy(is: [:]))
    }
  }

  @Test(arguments: Kind.allCases)
  func `expired tokens start every zone anew, and remove what is gone`(kind: Kind) async throws {
    try await inWorld(kind) { world in
      for name in ["a", "b"] {
        try await world.relay.save(TestRecord(name), in: Self.notes, by: nil)
      }
      let old = ZoneID(name: "Old", owner: "_alice")
      try await world.relay.save(TestRecord("x"), in: old, by: nil)
      try await world.client.fetchAllChanges()
      try await world.relay.delete("b", in: Self.notes)
      try await world.relay.end(old, .deleted)
      try await world.relay.expireTokens()
      let pages = await world.copy.pages.count
      try await world.client.fetchAllChanges()
      #expect(await world.copy.zones == [Self.notes: ["a": "1"]])
      #expect(await world.copy.losses == [old: .unseen])
      let frame = await world.copy.pages.dropFirst(pages)
      #expect(frame.map(\.startsOver) == [true])
      #expect(frame.map(\.isLast) == [true])
    }
  }

  @Test(arguments: Kind.allCases)
  func `the courier tells what pends, and not what the device did itself`(kind: Kind) async throws {
    try await inWorld(kind) { world in
      try await world.client.register(.courier)
      _ = try await world.client.prepare([.zone("notes", Self.notes)])
      try await world.client.fetchAllChanges()
      var wakes = world.client.wakes().makeAsyncIterator()
      try await world.relay.save(TestRecord("own"), in: Self.notes, by: world.client.installation)
      try await world.relay.save(TestRecord("a"), in: Self.notes, by: nil)
      let first = try #require(try await wakes.next())
      #expect(first.number == 1 && first.user == "_alice")
      #expect(first.zones.map(\.id) == [Self.notes])
      #expect(!first.hasMore && !first.hasNotifications)
      try await world.client.handle(first)
      try await world.relay.save(TestRecord("b"), in: Self.notes, by: nil)
      #expect(try #require(try await wakes.next()).number == 2)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a query subscription is told in the notifications`(kind: Kind) async throws {
    try await inWorld(kind) { world in
      try await world.client.register(.courier)
      let query = RecordQuery(recordType: "Note", firesOn: [.create, .update])
      _ = try await world.client.prepare([.query("notes", in: .private, query)])
      try await world.client.fetchAllChanges()
      try await world.relay.save(TestRecord("a"), in: Self.notes, by: nil)
      try await world.relay.save(TestRecord("x", type: "Other"), in: Self.notes, by: nil)
      try await world.client.fetchAllChanges()
      let all = await world.copy.notificationPages.flatMap(\.notifications)
      #expect(all.map(\.recordName) == ["a"])
      #expect(all.map(\.subscriptionID) == ["notes"])
      #expect(all.map(\.notificationType) == ["query"])
      #expect(all.map(\.queryNotificationReason) == ["created"])
    }
  }

  @Test(arguments: Kind.allCases)
  func `each subscription has its own result`(kind: Kind) async throws {
    try await inWorld(kind) { world in
      let results = try await world.client.prepare([
        .database("all", .private),
        .zone("default", ZoneID(name: "_defaultZone", owner: "_alice")),
        .zone("notes", Self.notes),
      ])
      #expect(results.map(\.id) == ["all", "default", "notes"])
      #expect(results.map { $0.error == nil } == [true, false, true])
      let removed = try await world.client.remove(["all", "unknown"], in: .private)
      #expect(removed.allSatisfy { $0.error == nil })
    }
  }

  @Test(arguments: Kind.allCases)
  func `signing out ends the courier's address`(kind: Kind) async throws {
    try await inWorld(kind) { world in
      try await world.client.register(.courier)
      try await world.client.signOut()
      #expect(await world.copy.accounts == ["- > _alice", "_alice > -"])
      var wakes = world.client.wakes().makeAsyncIterator()
      await #expect(throws: RelayError.self) { _ = try await wakes.next() }
    }
  }
}
