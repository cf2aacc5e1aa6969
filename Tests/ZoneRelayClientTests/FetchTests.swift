import Foundation
import Testing
import ZoneRelayTesting
@testable import ZoneRelayClient

@Suite struct FetchTests {
  @Test func `the copy has every record after a fetch of many pages`() async throws {
    let rig = try Rig()
    await rig.relay.setPageEntries(3)
    for number in 1...9 { await rig.relay.save(TestRecord("r\(number)"), in: Rig.notes) }
    let report = try await rig.client.fetchAllChanges()
    #expect(report.records == 9)
    #expect(report.pages == 4, "three pages of the zone, and one of notifications")
    #expect(await rig.sink.zones[Rig.notes]?.count == 9)
    let pages = await rig.sink.pages
    #expect(pages.map(\.startsOver) == [true, false, false])
    #expect(pages.map(\.isLast) == [false, false, true])
  }

  @Test func `a fetch without news applies no page of a zone`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    let pages = await rig.sink.pages.count
    let report = try await rig.client.fetchAllChanges()
    #expect(report.records == 0)
    #expect(await rig.sink.pages.count == pages)
    try await rig.client.fetchAllChanges(.zone(Rig.notes))
    #expect(await rig.sink.pages.count == pages)
  }

  @Test func `a page that the sink refuses comes again`() async throws {
    let rig = try Rig()
    await rig.relay.setPageEntries(2)
    for name in ["a", "b", "c", "d"] { await rig.relay.save(TestRecord(name), in: Rig.notes) }
    await rig.sink.refuse(pages: 2)
    await #expect(throws: PageRefused.self) { try await rig.client.fetchAllChanges() }
    try await rig.client.fetchAllChanges()
    let pages = await rig.sink.pages
    #expect(pages.map { $0.changed.map(\.name) } == [["a", "b"], ["c", "d"], ["c", "d"]])
    #expect(pages.map(\.startsOver) == [true, false, false])
  }

  /// The page is applied and the process ends before the token is stored.
  @Test func `after a crash before the token is stored the page comes again`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    await rig.relay.save(TestRecord("b"), in: Rig.notes)
    rig.store.allow(saves: 0)
    await #expect(throws: MemoryStore.Full.self) {
      try await rig.client.fetchAllChanges(.database(.private))
    }
    #expect(await rig.sink.zones[Rig.notes] == ["a": "1", "b": "1"])
    rig.store.allow(saves: .max)
    let again = try rig.restarted()
    #expect(try await again.fetchAllChanges().records == 1)
    #expect(again.installation == rig.client.installation)
  }

  /// After a crash in the middle of a zone that is read anew, the client reads the rest of the
  /// zone.
  @Test func `a restart goes on with the next page`() async throws {
    let rig = try Rig()
    await rig.relay.setPageEntries(2)
    for name in ["a", "b", "c", "d"] { await rig.relay.save(TestRecord(name), in: Rig.notes) }
    await rig.sink.refuse(pages: 2)
    await #expect(throws: PageRefused.self) { try await rig.client.fetchAllChanges() }
    try await rig.restarted().fetchAllChanges()
    #expect(await rig.sink.zones[Rig.notes]?.keys.sorted() == ["a", "b", "c", "d"])
  }

  @Test func `deletions stand before the changed records, and own changes are marked`() async throws
  {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    await rig.relay.save(TestRecord("b"), in: Rig.notes, by: rig.client.installation)
    await rig.relay.delete("a", in: Rig.notes)
    try await rig.client.fetchAllChanges()
    let page = try #require(await rig.sink.pages.last)
    #expect(page.deleted.map(\.name) == ["a"])
    #expect(page.changed.map(\.name) == ["b"])
    #expect(page.changed.map(\.own) == [true])
  }

  @Test(arguments: ["__defaultOwner__", "_defaultOwner"])
  func `CloudKit's name for the signed-in user names the user's own zone`(owner: String)
    async throws
  {
    let rig = try Rig()
    try await rig.client.fetchAllChanges()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    let report = try await rig.client.fetchAllChanges(
      .zone(ZoneID(name: Rig.notes.name, owner: owner)))
    #expect(report.zones == [Rig.notes])
    #expect(await rig.sink.zones == [Rig.notes: ["a": "1"]])
    #expect(await rig.sink.losses.isEmpty)
    #expect(await rig.client.state.zones.keys.sorted() == [Rig.notes])
  }

  @Test func `a gap without news is a page`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    let pages = await rig.sink.pages.count
    await rig.relay.setGap(true, in: Rig.notes)
    let report = try await rig.client.fetchAllChanges(.zone(Rig.notes))
    #expect(report.pages == 1 && report.records == 0)
    #expect(await rig.sink.pages.dropFirst(pages).map(\.gap) == [true])
  }

  @Test func `a gap is shown`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    await rig.relay.setGap(true, in: Rig.notes)
    try await rig.client.fetchAllChanges()
    #expect(await rig.sink.pages.last?.gap == true)
  }

  @Test(arguments: [ZoneLoss.deleted, .purged, .reset])
  func `a zone that ends is removed, with the reason`(loss: ZoneLoss) async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    await rig.relay.end(Rig.notes, loss)
    let report = try await rig.client.fetchAllChanges()
    #expect(await rig.sink.losses == [Rig.notes: loss])
    #expect(report.zones == [Rig.notes])
  }

  /// A push names the zone, so the client asks for it and not for its database.
  @Test(arguments: [ZoneLoss.deleted, .purged, .reset])
  func `a zone that is asked for and has ended is removed once, with the reason`(loss: ZoneLoss)
    async throws
  {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    await rig.relay.end(Rig.notes, loss)
    try await rig.client.fetchAllChanges(.zone(Rig.notes))
    #expect(await rig.sink.losses == [Rig.notes: loss])
    let report = try await rig.client.fetchAllChanges()
    #expect(report.zones.isEmpty)
  }

  /// The database's answer is newer than the one that did not find the zone.
  @Test func `a zone that comes back before its database is read is kept`() async throws {
    let transport = ReturningTransport()
    let rig = try Rig(transport: transport)
    await transport.pass(to: rig.relay, returning: nil)
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    await rig.relay.end(Rig.notes)
    await transport.pass(to: rig.relay, returning: Rig.notes)
    try await rig.client.fetchAllChanges(.zone(Rig.notes))
    #expect(await rig.sink.zones[Rig.notes] == ["new": "1"])
    #expect(await rig.sink.losses.isEmpty)
  }

  @Test func `a zone that is withdrawn from the user is removed as unseen`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.shared)
    await rig.relay.share(Rig.shared, with: "_alice")
    try await rig.client.fetchAllChanges()
    #expect(await rig.sink.zones[Rig.shared] == ["a": "1"])
    await rig.relay.share(Rig.shared, with: "_alice", false)
    try await rig.client.fetchAllChanges(.zone(Rig.shared))
    #expect(await rig.sink.losses == [Rig.shared: .unseen])
  }

  @Test func `a zone that ended and began again is read anew`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("old"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    await rig.relay.end(Rig.notes)
    await rig.relay.save(TestRecord("new"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    #expect(await rig.sink.zones[Rig.notes] == ["new": "1"])
    #expect(await rig.sink.pages.last?.startsOver == true)
  }

  /// Swift's own comparison of texts treats these two names as equal.
  @Test func `two zones whose names differ in bytes alone are two zones`() async throws {
    let rig = try Rig()
    let composed = ZoneID(name: "Caf\u{E9}", owner: "_alice")
    let decomposed = ZoneID(name: "Cafe\u{301}", owner: "_alice")
    await rig.relay.save(TestRecord("a"), in: composed)
    await rig.relay.save(TestRecord("b"), in: decomposed)
    try await rig.client.fetchAllChanges()
    #expect(await rig.sink.zones[composed] == ["a": "1"])
    #expect(await rig.sink.zones[decomposed] == ["b": "1"])
  }

  @Test func `a record is fetched unless the app holds its tag`() {
    func record(_ name: String, _ tag: String?) -> ZonePage.Record {
      ZonePage.Record(name: name, type: "Note", changeTag: tag, modified: nil, own: false)
    }
    let page = ZonePage(
      zone: Rig.notes, deleted: [record("gone", "1")],
      changed: [record("new", "1"), record("held", "2"), record("old", "3"), record("bare", nil)],
      gap: false, startsOver: false, isLast: true)
    let known = ["held": "2", "old": "2", "bare": ""]
    #expect(page.toFetch { known[$0] }.map(\.name) == ["new", "old", "bare"])
  }
}

/// Passes requests on to the relay. If a test has named a deleted zone, the zone exists again, with
/// one new record, before the first answer about a database's changes.
private actor ReturningTransport: RelayTransport {
  private var relay: InMemoryRelay?
  private var zone: ZoneID?

  func pass(to relay: InMemoryRelay, returning zone: ZoneID?) {
    (self.relay, self.zone) = (relay, zone)
  }

  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    guard let relay else { throw CancellationError() }
    if request.url.path.hasSuffix("changes/database"), let zone = zone.take() {
      await relay.save(TestRecord("new"), in: zone)
    }
    return try await relay.send(request)
  }
}
