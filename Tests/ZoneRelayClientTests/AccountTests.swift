import Foundation
import Testing
import ZoneRelayTesting
@testable import ZoneRelayClient

@Suite struct AccountTests {
  @Test func `the sink learns of a user before anything is fetched`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    // During this call the sink learns of the user and empties its copy, so a page that came
    // earlier would be missing.
    try await rig.client.fetchAllChanges(.zone(Rig.notes))
    #expect(await rig.sink.accounts == ["- > _alice"])
    #expect(await rig.sink.zones[Rig.notes] == ["a": "1"])
  }

  @Test func `a refused token is renewed once`() async throws {
    let rig = try Rig()
    try await rig.client.fetchAllChanges()
    await rig.relay.refuseTokens(of: "_alice")
    try await rig.client.fetchAllChanges()
    #expect(await rig.account.asked == [.needed, .refused])
    #expect(await rig.sink.accounts.count == 1)
  }

  @Test func `a token that stays refused ends the call, and the status says so`() async throws {
    let rig = try Rig()
    try await rig.client.fetchAllChanges()
    await rig.account.goStale()
    await rig.relay.refuseTokens(of: "_alice")
    let before = await rig.relay.requests.count
    let error = await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    #expect(error?.code == .signedOut)
    #expect(await rig.account.asked == [.needed, .refused])
    #expect(await rig.relay.requests.count == before + 2)
    #expect(await rig.client.statusBoard.status == .signedOut)
  }

  /// The last of many failures was that the relay refused the user's token.
  @Test func `a new token is tried at once, and the refused one waits`() async throws {
    let rig = try Rig()
    try await rig.client.fetchAllChanges()
    await rig.account.goStale()
    await rig.relay.refuseTokens(of: "_alice")
    for _ in 1...4 {
      await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    }
    #expect(rig.clock.sleeps == [1, 2, 4].map { .seconds($0) }, "the refused token waits")
    await rig.account.goStale(false)
    rig.clock.pass(.seconds(1))
    try await rig.client.fetchAllChanges()
    #expect(rig.clock.sleeps.count == 3)
  }

  /// Asked for a new token, the app fails or has none. Asked again later, it gives the old token.
  @Test(arguments: [Account.Renewal.fails, .givesNone])
  func `a refused token waits also where the app cannot renew it`(renewal: Account.Renewal)
    async throws
  {
    let rig = try Rig()
    try await rig.client.fetchAllChanges()
    await rig.account.goStale()
    await rig.account.renew(renewal)
    await rig.relay.refuseTokens(of: "_alice")
    for _ in 1...4 {
      let error = await #expect(throws: (any Error).self) {
        try await rig.client.fetchAllChanges()
      }
      #expect(error is Account.Failed == (renewal == .fails))
    }
    #expect(rig.clock.sleeps == [1, 2, 4].map { .seconds($0) })
    await rig.account.goStale(false)
    rig.clock.pass(.seconds(1))
    try await rig.client.fetchAllChanges()
    #expect(rig.clock.sleeps.count == 3, "another token is tried at once")
  }

  /// A busy relay stays busy, whatever user token a request brings. So with a new user token, too,
  /// the client waits for as long as the relay has asked.
  @Test func `a new token waits where the relay has asked for a wait`() async throws {
    let rig = try Rig()
    try await rig.client.fetchAllChanges()
    await rig.account.goStale()
    await rig.relay.refuseTokens(of: "_alice")
    await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    await rig.relay.fail(.status(503, retryAfter: 10))
    await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    await rig.account.goStale(false)
    try await rig.client.fetchAllChanges()
    #expect(rig.clock.sleeps == [.seconds(1), .seconds(11)])
  }

  @Test(arguments: [401, 421])
  func `each answer that means signed out asks the app once`(status: Int) async throws {
    let rig = try Rig()
    await rig.relay.fail(.status(status), .status(status))
    let error = await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    #expect(error?.code == .signedOut)
    #expect(await rig.account.asked == [.needed, .refused])
    #expect(await rig.client.statusBoard.status == .signedOut)
  }

  @Test func `without a user nothing is asked`() async throws {
    let rig = try Rig()
    await rig.account.signIn(nil)
    let error = await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    #expect(error?.code == .signedOut)
    #expect(await rig.relay.requests.isEmpty)
    #expect(await rig.client.statusBoard.status == .signedOut)
  }

  @Test func `another user's states never mix`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    await rig.relay.save(TestRecord("b"), in: Rig.shared)
    try await rig.client.fetchAllChanges()
    await rig.account.signIn("_bob")
    await rig.relay.refuseTokens(of: "_alice")
    let error = await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    #expect(error?.message.contains("another user") == true)
    try await rig.client.fetchAllChanges(.notifications)
    #expect(await rig.sink.accounts == ["- > _alice", "_alice > _bob"])
    #expect(await rig.sink.zones == [Rig.shared: ["b": "1"]], "the first round brings everything")
    #expect(await rig.client.state.zones.keys.sorted() == [Rig.shared])
  }

  /// Three pages of one zone in three answers, or of three zones in one answer.
  @Test(arguments: [["Notes"], ["Notes", "Plans", "Lists"]])
  func `a page of the old user is never applied after the change`(zones: [String]) async throws {
    let rig = try Rig()
    await rig.relay.setPageEntries(zones.count)
    for name in ["a", "b", "c"] {
      for zone in zones {
        await rig.relay.save(TestRecord(name), in: ZoneID(name: zone, owner: "_alice"))
      }
    }
    let gate = Gate()
    await rig.sink.wait(at: gate)
    let round = Task { try await rig.client.fetchAllChanges() }
    await gate.untilArrival()
    let leaving = Task { try await rig.client.signOut() }
    while await rig.client.waitingCallers < 1 { await Task.yield() }
    await gate.open()
    try await leaving.value
    let error = await #expect(throws: RelayError.self) { try await round.value }
    #expect(error?.code == .signedOut)
    #expect(await rig.sink.pages.count == 1)
    #expect(await rig.sink.zones.isEmpty)
    #expect(await rig.client.state.zones.isEmpty)
  }

  @Test func `signing out unregisters the device and forgets the user`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.register(.courier)
    try await rig.client.fetchAllChanges()
    let installation = rig.client.installation
    try await rig.client.signOut()
    #expect(await rig.requests(to: "tokens/unregister") == 1)
    #expect(await rig.sink.accounts.last == "_alice > -")
    #expect(await rig.client.state.user == nil)
    #expect(try rig.restarted().installation == installation)
    try await rig.client.signOut()
    #expect(await rig.requests(to: "tokens/unregister") == 1, "a second time there is no user")
  }

  @Test func `a user signs out although the relay cannot be reached`() async throws {
    let rig = try Rig()
    try await rig.client.fetchAllChanges()
    await rig.relay.fail(.unreachable, .unreachable)
    await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    let error = await #expect(throws: RelayError.self) { try await rig.client.signOut() }
    #expect(error?.code == .unreachable)
    #expect(
      rig.clock.sleeps.isEmpty, "the user does not wait for the pause after the first failure")
    #expect(await rig.client.state.user == nil)
    #expect(await rig.sink.accounts.last == "_alice > -")
  }

  @Test func `the status shows what the client does`() async throws {
    let rig = try Rig()
    var seen = rig.client.status.makeAsyncIterator()
    #expect(await seen.next() == .signedOut)
    await rig.relay.fail(.status(503, retryAfter: 10))
    await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    #expect(await seen.next() == .idle)
    let gate = Gate()
    await rig.relay.fail { _ in
      await gate.pass()
      return nil
    }
    let round = Task { try await rig.client.fetchAllChanges() }
    await gate.untilArrival()
    #expect(await seen.next() == .working)
    await gate.open()
    _ = try await round.value
    #expect(await seen.next() == .idle)
  }

  @Test func `the status names the time until which the client waits`() async throws {
    let clock = HeldClock()
    let (client, relay) = try Rig.client(clock: clock)
    await relay.fail(.status(503, retryAfter: 10))
    await #expect(throws: RelayError.self) { try await client.fetchAllChanges() }
    let waiting = Task { try await client.fetchAllChanges() }
    await clock.untilSleep()
    let until = clock.date.addingTimeInterval(11)
    #expect(await client.statusBoard.status == .waiting(until: until))
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  @Test func `status streams without a reader are forgotten`() async throws {
    let rig = try Rig()
    for _ in 0..<100 { _ = rig.client.status }
    while await rig.client.statusBoard.added < 100 { await Task.yield() }
    try await rig.client.fetchAllChanges()
    #expect(await rig.client.statusBoard.streams.isEmpty)
  }

  /// Swift's own comparison of texts treats these two names as equal.
  @Test func `two users whose names differ in bytes alone are two users`() async throws {
    let rig = try Rig()
    await rig.account.signIn("_Caf\u{E9}")
    try await rig.client.fetchAllChanges()
    await rig.account.signIn("_Cafe\u{301}")
    try await rig.restarted().fetchAllChanges()
    #expect(await rig.sink.accounts.count == 2)
  }

  /// The process ends before the sink has set the old user's copy aside, and no user signs in
  /// afterwards. The sink's error stands for this end.
  @Test func `after a crash during the signing out the sink learns of it`() async throws {
    let rig = try Rig()
    try await rig.client.fetchAllChanges()
    let failing = try rig.restarted(sink: AccountlessSink())
    await #expect(throws: PageRefused.self) { try await failing.signOut() }
    await rig.account.signIn(nil)
    let client = try rig.restarted()
    let error = await #expect(throws: RelayError.self) { try await client.fetchAllChanges() }
    #expect(error?.code == .signedOut)
    #expect(await rig.sink.accounts.last == "_alice > -")
    #expect(await client.state.user == nil)
  }

  /// The relay has asked for a wait of an hour. One call waits for this time, and another call
  /// waits for its turn.
  @Test func `signing out does not wait for calls that wait for the relay`() async throws {
    let clock = HeldClock()
    let (client, relay) = try Rig.client(clock: clock)
    try await client.fetchAllChanges()
    await relay.fail(.status(503, retryAfter: 3_600))
    await #expect(throws: RelayError.self) { try await client.fetchAllChanges() }
    let calls = (0..<2).map { _ in Task { try await client.register(.courier) } }
    await clock.untilSleep()
    while await client.waitingCallers < 1 { await Task.yield() }
    try await client.signOut()
    for call in calls {
      let error = await #expect(throws: RelayError.self) { try await call.value }
      #expect(error?.code == .signedOut)
    }
    #expect(await client.state.user == nil)
  }

  /// A build for the sandbox and one for production may follow each other on one device.
  @Test func `tokens of another environment are not used`() async throws {
    let rig = try Rig()
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    try await rig.client.fetchAllChanges()
    var address = rig.relay.address
    address.environment = .production
    let client = try ZoneRelayClient(
      address, state: rig.store, sink: rig.sink, transport: rig.relay, clock: rig.clock,
      credentials: { try await rig.account.token($0) })
    let before = await rig.relay.requests.count
    try await client.fetchAllChanges(.notifications)
    let first = try #require(await rig.relay.requests.dropFirst(before).first?.body)
    #expect(!String(decoding: first, as: UTF8.self).contains("syncToken"))
    #expect(await rig.sink.accounts == ["- > _alice", "_alice > _alice"])
    #expect(client.installation == rig.client.installation)
  }

  @Test(arguments: [
    ("e30.eyJzdWIiOiJfYWJjIn0.sig", "_abc"), ("e30.eyJzdWIiOiJfw6kifQ.s", "_é"),
    ("e30.e30.s", nil), ("e30.eyJzdWIiOiJfYWJjIn0", nil), ("", nil), ("a.b.c", nil),
  ])
  func `a token names its user`(jwt: String, user: String?) {
    #expect(UserToken(jwt: jwt)?.user == user)
    #expect(UserToken(jwt: " \(jwt)\n")?.text == UserToken(jwt: jwt)?.text)
  }

  /// On Linux a request would lose a header field that has white space around the token.
  @Test func `white space around a token does not belong to it`() {
    #expect(UserToken(user: "_alice", text: "\t e30.e30.s\r\n").text == "e30.e30.s")
  }
}

/// A sink that fails when the user changes, so that the old user's copy is not set aside.
private struct AccountlessSink: ChangeSink {
  func apply(_ page: ZonePage) {}
  func remove(_ zone: ZoneID, _ why: ZoneLoss) {}
  func accountChanged(from: String?, to: String?) throws { throw PageRefused() }
}

/// A clock whose sleeps last until they are cancelled.
private final class HeldClock: ClientClock {
  private let asleep = Gate()
  let now = Duration.zero
  let date = Date(timeIntervalSince1970: 0)
  let chance = 0.5

  func sleep(for time: Duration) async throws {
    let gate = Gate()
    Task { await asleep.pass() }
    await withTaskCancellationHandler {
      await gate.pass()
    } onCancel: {
      Task { await gate.open() }
    }
    throw CancellationError()
  }

  func untilSleep() async { await asleep.untilArrival() }
}
