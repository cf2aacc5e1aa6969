import Foundation
import Testing
import ZoneRelayTesting
@testable import ZoneRelayClient

@Suite struct WakeTests {
  private static let push = #"""
    {"aps":{"content-available":1},
     "ck":{"ce":2,"cid":"iCloud.com.example.notes","ckuserid":"_alice","nid":"943172cd"},
     "zr":{"w":1,"n":3,"q":1,"nb":1795000500,
           "z":[["Notes","_alice",1],["News","_bob",3,1]]}}
    """#

  private static func wake(
    _ number: UInt32, _ members: String = "", user: String = "_alice"
  ) throws -> Wake {
    let json = #"{"ck":{"ckuserid":"\#(user)"},"zr":{"w":\#(number)\#(members)}}"#
    return try #require(Wake(json: Data(json.utf8)))
  }

  /// A rig whose client has signed in and fetched once.
  private static func rig() async throws -> Rig {
    let rig = try Rig()
    try await rig.client.register(.courier)
    try await rig.client.fetchAllChanges()
    return rig
  }

  @Test func `a push is read alike from every provider`() throws {
    let json = try #require(Wake(json: Data(Self.push.utf8)))
    let object = try JSONSerialization.jsonObject(with: Data(Self.push.utf8))
    let userInfo = try #require(object as? [AnyHashable: Any])
    #expect(Wake(userInfo: userInfo) == json)
    let texts = try userInfo.mapValues {
      String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self)
    }
    #expect(Wake(userInfo: texts) == json)
    #expect(json.number == 1 && json.user == "_alice" && json.hasNotifications && !json.hasMore)
    #expect(json.zones.map(\.waits) == [false, true])
    #expect(json.notBefore == Date(timeIntervalSince1970: 1_795_000_500))
  }

  @Test(arguments: [
    "", "[]", "{}", #"{"aps":{}}"#, #"{"ck":{"ckuserid":"_a"}}"#, #"{"zr":{"w":1}}"#,
    #"{"ck":{"ckuserid":"_a"},"zr":{"w":-1}}"#, #"{"ck":{},"zr":{"w":1}}"#,
    #"{"ck":{"ckuserid":"_a"},"zr":{"w":1,"z":[["only a name"]]}}"#,
  ])
  func `any other push is no wake`(json: String) {
    #expect(Wake(json: Data(json.utf8)) == nil)
    let object = try? JSONSerialization.jsonObject(with: Data(json.utf8))
    #expect(Wake(userInfo: object as? [AnyHashable: Any] ?? ["aps": "text"]) == nil)
  }

  @Test func `a wake fetches what it names and nothing else`() async throws {
    let rig = try await Self.rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    await rig.relay.save(TestRecord("b"), in: Rig.notes)
    let before = await rig.relay.requests.count
    let report = try await rig.client.handle(Self.wake(1, #","z":[["Notes","_alice",1]]"#))
    #expect(report.zones == [Rig.notes])
    #expect(await rig.relay.requests.count == before + 1)
    try await rig.client.handle(Self.wake(2, #","q":1"#))
    #expect(await rig.relay.requests.last?.url.path.hasSuffix("notifications/changes") == true)
    #expect(await rig.relay.requests.count == before + 2)
  }

  /// A database's feed leaves out a zone that was created and deleted since the client's token. To
  /// learn of such a zone's end, the client needs a token that is newer than the zone.
  @Test func `a zone that the client does not know is read through its database`() async throws {
    let rig = try await Self.rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.handle(Self.wake(1, #","z":[["Notes","_alice",1]]"#))
    #expect(await rig.requests(to: "private/changes/database") == 2)
    await rig.relay.end(Rig.notes)
    try await rig.client.fetchAllChanges()
    #expect(await rig.sink.losses == [Rig.notes: .deleted])
  }

  @Test(arguments: [("a number that was left out", 3, ""), ("more", 1, #","m":1"#)])
  func `a wake that does not say all fetches everything`(
    what: String, number: Int, members: String
  ) async throws {
    let rig = try await Self.rig()
    let before = await rig.relay.requests.count
    try await rig.client.handle(Self.wake(UInt32(number), members))
    let paths = await rig.relay.requests.dropFirst(before).map(\.url.lastPathComponent)
    #expect(paths.sorted() == ["changes", "database", "database"], "\(what)")
  }

  /// After the device was forgotten by the relay and registered again, its wakes begin with 1.
  @Test func `a lower number fetches everything, and the next one follows on it`() async throws {
    let rig = try await Self.rig()
    for number in [1, 2, 3, 4] { try await rig.client.handle(Self.wake(UInt32(number))) }
    var before = await rig.relay.requests.count
    try await rig.client.handle(Self.wake(1))
    #expect(await rig.relay.requests.count == before + 3)
    before = await rig.relay.requests.count
    try await rig.client.handle(Self.wake(2))
    #expect(await rig.relay.requests.count == before)
  }

  @Test func `a repeated push fetches what it names again`() async throws {
    let rig = try await Self.rig()
    let before = await rig.relay.requests.count
    for _ in 1...2 { try await rig.client.handle(Self.wake(1, #","z":[["Notes","_alice",1]]"#)) }
    #expect(await rig.relay.requests.count == before + 2)
  }

  @Test func `a push of another user is ignored`() async throws {
    let rig = try await Self.rig()
    let before = await rig.relay.requests.count
    let report = try await rig.client.handle(Self.wake(9, #","m":1"#, user: "_bob"))
    #expect(report.isIgnored)
    #expect(await rig.relay.requests.count == before)
    try await rig.client.handle(Self.wake(1))
    #expect(await rig.relay.requests.count == before, "its number does not count either")
  }

  /// The wake is for Alice's device. If Bob's device acknowledged it, the relay would take that for
  /// Bob's wake with the same number.
  @Test func `a wake for later is ignored where another user has signed in since the last launch`()
    async throws
  {
    let rig = try await Self.rig()
    let client = try rig.restarted()
    await rig.account.signIn("_bob")
    let before = await rig.relay.requests.count
    #expect(try await client.handle(Self.wake(1), .later).isIgnored)
    #expect(await rig.relay.requests.count == before)
    #expect(await rig.sink.accounts.last == "_alice > _bob")
  }

  /// An app may have two containers, with one client for each.
  @Test func `a push of another container is ignored`() async throws {
    let rig = try await Self.rig()
    let before = await rig.relay.requests.count
    let json = #"{"ck":{"cid":"iCloud.com.example.other","ckuserid":"_alice"},"zr":{"w":1,"m":1}}"#
    let wake = try #require(Wake(json: Data(json.utf8)))
    #expect(try await rig.client.handle(wake).isIgnored)
    #expect(await rig.relay.requests.count == before)
  }

  @Test func `a zone that must wait is fetched when its time has come`() async throws {
    let rig = try await Self.rig()
    await rig.relay.save(TestRecord("a"), in: Rig.shared)
    await rig.relay.share(Rig.shared, with: "_alice")
    let time = Int(rig.clock.date.timeIntervalSince1970) + 60
    let names = #","nb":\#(time),"z":[["Notes","_alice",1],["Plans","_bob",3,1]]"#
    let report = try await rig.client.handle(Self.wake(1, names))
    #expect(report.deferredUntil == Date(timeIntervalSince1970: Double(time)))
    // After a wake with `"m":1` the client fetches everything except the zone that must wait.
    try await rig.client.handle(Self.wake(2, #","m":1"# + names))
    #expect(await rig.sink.zones[Rig.shared] == nil)
    rig.clock.pass(.seconds(61))
    let later = try await rig.client.fetchAllChanges(.notifications)
    #expect(later.zones.contains(Rig.shared))
    #expect(later.deferredUntil == nil)
    #expect(await rig.sink.zones[Rig.shared] == ["a": "1"])
  }

  @Test(arguments: [Scope.everything, .zone(Rig.shared)])
  func `the app itself may fetch a zone that must wait`(scope: Scope) async throws {
    let rig = try await Self.rig()
    await rig.relay.save(TestRecord("a"), in: Rig.shared)
    await rig.relay.share(Rig.shared, with: "_alice")
    let time = Int(rig.clock.date.timeIntervalSince1970) + 60
    try await rig.client.handle(
      Self.wake(1, #","nb":\#(time),"z":[["Plans","_bob",3,1]]"#))
    let report = try await rig.client.fetchAllChanges(scope)
    #expect(report.zones == [Rig.shared])
    #expect(report.deferredUntil == nil)
  }

  @Test(arguments: [false, true])
  func `a wait that a wake asks for is kept after a failed fetch`(isRestarted: Bool) async throws {
    let rig = try await Self.rig()
    await rig.relay.save(TestRecord("a"), in: Rig.shared)
    await rig.relay.share(Rig.shared, with: "_alice")
    try await rig.client.fetchAllChanges()
    await rig.relay.fail(.unreachable)
    await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    let client = isRestarted ? try rig.restarted() : rig.client
    await rig.relay.save(TestRecord("b"), in: Rig.shared)
    let time = Int(rig.clock.date.timeIntervalSince1970) + 600
    let report = try await client.handle(
      Self.wake(1, #","nb":\#(time),"z":[["Plans","_bob",3,1]]"#))
    #expect(report.deferredUntil == Date(timeIntervalSince1970: Double(time)))
    #expect(await rig.sink.zones[Rig.shared] == ["a": "1"])
  }

  /// The app had asked for the zone before the fetch failed.
  @Test func `a zone that must wait is fetched by the round after a failed fetch`() async throws {
    let rig = try await Self.rig()
    await rig.relay.save(TestRecord("a"), in: Rig.shared)
    await rig.relay.share(Rig.shared, with: "_alice")
    let time = Int(rig.clock.date.timeIntervalSince1970) + 600
    try await rig.client.handle(Self.wake(1, #","nb":\#(time),"z":[["Plans","_bob",3,1]]"#))
    await rig.relay.fail(.unreachable)
    await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    let report = try await rig.restarted().fetchAllChanges(.notifications)
    #expect(report.zones == [Rig.shared])
  }

  @Test func `a zone waits no longer once a wake names it without a time`() async throws {
    let rig = try await Self.rig()
    await rig.relay.save(TestRecord("a"), in: Rig.shared)
    await rig.relay.share(Rig.shared, with: "_alice")
    let time = Int(rig.clock.date.timeIntervalSince1970) + 60
    try await rig.client.handle(
      Self.wake(1, #","nb":\#(time),"z":[["Plans","_bob",3,1]]"#))
    let report = try await rig.client.handle(Self.wake(2, #","z":[["Plans","_bob",3]]"#))
    #expect(report.zones == [Rig.shared])
  }

  /// The database's token is past the zone's change, so the database does not name the zone again.
  @Test func `a known zone that had to wait is fetched although its database was read`()
    async throws
  {
    let rig = try await Self.rig()
    await rig.relay.save(TestRecord("a"), in: Rig.shared)
    await rig.relay.share(Rig.shared, with: "_alice")
    try await rig.client.fetchAllChanges()
    await rig.relay.save(TestRecord("b"), in: Rig.shared)
    let time = Int(rig.clock.date.timeIntervalSince1970) + 60
    try await rig.client.handle(
      Self.wake(1, #","m":1,"nb":\#(time),"z":[["Plans","_bob",3,1]]"#))
    #expect(await rig.sink.zones[Rig.shared] == ["a": "1"])
    try await rig.client.fetchAllChanges()
    #expect(await rig.sink.zones[Rig.shared] == ["a": "1", "b": "1"])
  }

  /// The page on its way does not have the change that the wake names.
  @Test func `a wait that a wake names during a round outlasts the round`() async throws {
    let rig = try await Self.rig()
    await rig.relay.share(Rig.shared, with: "_alice")
    await rig.relay.save(TestRecord("a"), in: Rig.shared)
    let gate = Gate()
    await rig.sink.wait(at: gate)
    let round = Task { try await rig.client.fetchAllChanges() }
    await gate.untilArrival()
    await rig.relay.save(TestRecord("b"), in: Rig.shared)
    let time = Int(rig.clock.date.timeIntervalSince1970) + 60
    let wake = try Self.wake(1, #","nb":\#(time),"z":[["Plans","_bob",3,1]]"#)
    let later = Task { try await rig.client.handle(wake, .later) }
    while await rig.client.waitingCallers < 1 { await Task.yield() }
    await gate.open()
    _ = try await (round.value, later.value)
    rig.clock.pass(.seconds(61))
    try await rig.client.fetchAllChanges(.notifications)
    #expect(await rig.sink.zones[Rig.shared] == ["a": "1", "b": "1"])
  }

  /// No relay asks for a wait of more than a day, so the device's clock must be years behind.
  @Test func `a time that is too far off is no reason to wait`() async throws {
    let rig = try await Self.rig()
    await rig.relay.save(TestRecord("a"), in: Rig.shared)
    await rig.relay.share(Rig.shared, with: "_alice")
    let time = Int(rig.clock.date.timeIntervalSince1970) + 200_000_000
    let report = try await rig.client.handle(
      Self.wake(1, #","nb":\#(time),"z":[["Plans","_bob",3,1]]"#))
    #expect(report.zones == [Rig.shared])
    #expect(report.deferredUntil == nil)
  }

  @Test func `a time that is too far off is not given to the app`() async throws {
    let rig = try await Self.rig()
    let time = Int(rig.clock.date.timeIntervalSince1970) + 200_000_000
    let report = try await rig.client.handle(
      Self.wake(1, #","nb":\#(time),"z":[["Plans","_bob",3,1]]"#), .later)
    #expect(report.deferredUntil == nil)
    try await rig.client.handle(Self.wake(2, #","q":1,"nb":\#(time)"#))
    let page = try #require(await rig.sink.notificationPages.last)
    #expect(page.notBefore == nil)
  }

  /// The device's clock was right when the wake came, and is a year behind at the round.
  @Test func `a time is too far off once the device's clock goes back`() throws {
    let wake = try Self.wake(1, #","q":1,"nb":1795000060,"z":[["Plans","_bob",3,1]]"#)
    let date = Date(timeIntervalSince1970: 1_795_000_000)
    var state = ClientState()
    state.change(to: "_alice")
    let isNoted = state.note(wake, at: date)
    #expect(isNoted)
    state.beginRound(at: date)
    #expect(state.waits(Rig.shared) && state.notificationsWaitUntil == 1_795_000_060)
    state.beginRound(at: date.addingTimeInterval(-31_536_000))
    #expect(!state.waits(Rig.shared) && state.notificationsWaitUntil == nil)
  }

  @Test func `notifications that point to a hot zone's records say how long to wait`() async throws
  {
    let rig = try await Self.rig()
    let time = Int(rig.clock.date.timeIntervalSince1970) + 60
    try await rig.client.handle(Self.wake(1, #","q":1,"nb":\#(time)"#))
    #expect(
      await rig.sink.notificationPages.last?.notBefore
        == Date(timeIntervalSince1970: Double(time)))
    rig.clock.pass(.seconds(61))
    try await rig.client.fetchAllChanges(.notifications)
    #expect(await rig.sink.notificationPages.last?.notBefore == nil)
  }

  @Test func `a wake for later is stored and acknowledged, and the next round fetches it`()
    async throws
  {
    let rig = try await Self.rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    let before = await rig.relay.requests.count
    try await rig.client.handle(Self.wake(1, #","z":[["Notes","_alice",1]]"#), .later)
    #expect(
      await rig.relay.requests.dropFirst(before).map(\.url.lastPathComponent) == ["acknowledge"])
    let report = try await rig.restarted().fetchAllChanges(.notifications)
    #expect(report.zones == [Rig.notes])
  }

  @Test func `a wake for later that cannot be stored is not acknowledged`() async throws {
    let rig = try await Self.rig()
    rig.store.allow(saves: 0)
    let wake = try Self.wake(1, #","z":[["Notes","_alice",1]]"#)
    await #expect(throws: MemoryStore.Full.self) { try await rig.client.handle(wake, .later) }
    #expect(await rig.requests(to: "wakes/acknowledge") == 0)
    rig.store.allow(saves: .max)
    try await rig.client.handle(wake, .later)
    #expect(await rig.requests(to: "wakes/acknowledge") == 1)
  }

  @Test func `a failed round is made up by the next one`() async throws {
    let rig = try await Self.rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    await rig.relay.fail(.unreachable)
    await #expect(throws: RelayError.self) {
      try await rig.client.handle(Self.wake(1, #","z":[["Notes","_alice",1]]"#))
    }
    let report = try await rig.client.fetchAllChanges(.notifications)
    #expect(report.zones == [Rig.notes])
  }
}
