import Foundation
import Testing
import ZoneRelayTesting
@testable import ZoneRelayClient

/// A relay, or a server in its place, whose answers no relay should give.
@Suite struct HostileRelayTests {
  private static let zone = #"{"zoneName":"Notes","ownerRecordName":"_alice"}"#
  private static let expired = #""serverErrorCode":"CHANGE_TOKEN_EXPIRED""#

  @Test func `notifications that expire again and again are an error`() async throws {
    let transport = ScriptedTransport { path, count in
      return path == "notifications/changes"
        ? .json(#"{\#(Self.expired),"syncToken":"t\#(count)"}"#, status: 410) : .json("{}")
    }
    let rig = try Rig(transport: transport)
    let error = await #expect(throws: RelayError.self) {
      try await rig.client.fetchAllChanges(.notifications)
    }
    #expect(error?.code == .badAnswer)
    #expect(await transport.count < 10)
  }

  /// Every second answer is a page that begins the zone anew, and the next answer says that the
  /// token has expired.
  @Test func `a zone that expires again and again is an error`() async throws {
    let transport = ScriptedTransport { path, count in
      guard path == "changes/zone" else {
        return .json(#"{"zones":[{"zoneID":\#(Self.zone)}],"syncToken":"t\#(count)"}"#)
      }
      return count.isMultiple(of: 2)
        ? .json(
          #"{"zones":[{"zoneID":\#(Self.zone),"syncToken":"t\#(count)","moreComing":true}]}"#)
        : .json(#"{"zones":[{"zoneID":\#(Self.zone),\#(Self.expired)}]}"#)
    }
    let rig = try Rig(transport: transport)
    let error = await #expect(throws: RelayError.self) {
      try await rig.client.fetchAllChanges(.database(.private))
    }
    #expect(error?.code == .badAnswer)
    #expect(await transport.count < 20)
  }

  /// An empty token stands for the start, so it would begin the feed anew for ever.
  @Test(arguments: ["changes/database", "changes/zone", "notifications/changes"])
  func `an empty token is an error`(path: String) async throws {
    let transport = ScriptedTransport { asked, count in
      let token = asked == path ? "" : "t\(count)"
      return asked == "changes/zone"
        ? .json(
          #"{"zones":[{"zoneID":\#(Self.zone),"syncToken":"\#(token)","moreComing":true}]}"#)
        : .json(#"{"zones":[{"zoneID":\#(Self.zone)}],"syncToken":"\#(token)"}"#)
    }
    let rig = try Rig(transport: transport)
    let error = await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    #expect(error?.code == .badAnswer)
    #expect(await transport.count < 10)
  }

  /// The relay answers token A with token B, and token B with token A, without end.
  @Test(arguments: ["changes/database", "changes/zone", "notifications/changes"])
  func `a circle of tokens is an error and no loop`(path: String) async throws {
    let transport = ScriptedTransport { asked, count in
      let token = asked == path ? (count.isMultiple(of: 2) ? "A" : "B") : "t"
      let isMore = asked == path
      return asked == "changes/zone"
        ? .json(
          #"{"zones":[{"zoneID":\#(Self.zone),"syncToken":"\#(token)","moreComing":\#(isMore)}]}"#)
        : .json(
          #"{"syncToken":"\#(token)","zones":[{"zoneID":\#(Self.zone)}],"#
            + #""moreComing":\#(isMore)}"#)
    }
    let rig = try Rig(transport: transport)
    let error = await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    #expect(error?.code == .badAnswer)
    #expect(error?.message.contains("does not advance") == true)
    #expect(await transport.count < 10)
  }

  @Test func `a digest whose tokens go in a circle is an error and no loop`() async throws {
    let transport = ScriptedTransport { path, count in
      guard path == "changes/database" else { return .json(#"{"syncToken":"n"}"#) }
      let digest = count.isMultiple(of: 2) ? "A" : "B"
      return .json(
        #"{\#(Self.expired),"syncToken":"d","moreComing":true,"digestToken":"\#(digest)"}"#,
        status: 410)
    }
    let rig = try Rig(transport: transport)
    let error = await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    #expect(error?.code == .badAnswer)
    #expect(await transport.count < 10)
  }

  @Test func `a digest that goes on with an answer of another kind is an error`() async throws {
    let transport = ScriptedTransport { path, count in
      guard path == "changes/database" else { return .json(#"{"syncToken":"n"}"#) }
      return count == 1
        ? .json(
          #"{\#(Self.expired),"syncToken":"d","moreComing":true,"digestToken":"x"}"#, status: 410)
        : .json(#"{"syncToken":"t","zones":[]}"#)
    }
    let rig = try Rig(transport: transport)
    let error = await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    #expect(error?.message.contains("the digest") == true)
    #expect(await rig.client.state[.private] == nil)
  }

  /// The first of three zones is refused, in the first two rounds.
  @Test func `a zone that the relay refuses stops no other zone, and is asked for again`()
    async throws
  {
    let rig = try Rig()
    let zones = ["A", "B", "C"].map { ZoneID(name: $0, owner: "_alice") }
    for zone in zones { await rig.relay.save(TestRecord("a"), in: zone) }
    let refusing = RefusingTransport(rig.relay, zone: "A")
    let client = try ZoneRelayClient(
      rig.relay.address, state: rig.store, sink: rig.sink, transport: refusing, clock: rig.clock,
      credentials: { try await rig.account.token($0) })
    for _ in 1...2 {
      let report = try await client.fetchAllChanges()
      #expect(report.failures.keys.map(\.name) == ["A"])
      #expect(report.failures[zones[0]]?.code == .refused)
      #expect(report.failures[zones[0]]?.message == "zone A: BAD_REQUEST: broken")
    }
    #expect(await rig.sink.zones.keys.sorted() == Array(zones.dropFirst()))
    #expect(rig.clock.sleeps.isEmpty, "the relay is well")
    // The client is restarted as another process, and zone A is not refused any more.
    let report = try await rig.restarted().fetchAllChanges(.notifications)
    #expect(report.failures.isEmpty)
    #expect(report.zones == [zones[0]])
    #expect(await rig.sink.zones.keys.sorted() == zones)
  }

  /// The client goes on from the first page's token, so it also learns what changed between the
  /// pages.
  @Test func `after a digest of many pages the first page's token goes on`() async throws {
    let transport = ScriptedTransport { path, count in
      guard path == "changes/database" else { return .json(#"{"syncToken":"n"}"#) }
      let members = #"\#(Self.expired),"syncToken":"d\#(count)""#
      switch count {
      case 1:
        return .json(#"{\#(members),"moreComing":true,"digestToken":"x"}"#, status: 410)
      case 2: return .json("{\(members)}", status: 410)
      default: return .json(#"{"syncToken":"end"}"#)
      }
    }
    let rig = try Rig(transport: transport)
    try await rig.client.fetchAllChanges()
    let expected = [#"{"digestToken":"x"}"#, #"{"syncToken":"d1"}"#]
    #expect(await Array(transport.bodies[2...3]) == expected)
  }

  @Test func `after an answer about other things than asked the client waits`() async throws {
    let other = #"{"zoneName":"Other","ownerRecordName":"_alice"}"#
    let transport = ScriptedTransport { path, _ in
      switch path {
      case "changes/zone": .json(#"{"zones":[{"zoneID":\#(other),"syncToken":"t"}]}"#)
      case "changes/database": .json(#"{"zones":[{"zoneID":\#(Self.zone)}],"syncToken":"t"}"#)
      default: .json(#"{"subscriptions":[],"syncToken":"n"}"#)
      }
    }
    let rig = try Rig(transport: transport)
    var error = await #expect(throws: RelayError.self) {
      try await rig.client.fetchAllChanges(.database(.private))
    }
    #expect(error?.code == .badAnswer)
    #expect(error?.retryAfter == .seconds(1))
    error = await #expect(throws: RelayError.self) {
      try await rig.client.prepare([.database("all", .private)])
    }
    #expect(error?.code == .badAnswer)
    #expect(error?.retryAfter == .seconds(2))
    #expect(rig.clock.sleeps == [.seconds(1)])
  }

  /// The rounds get further than the first request, and then fail.
  @Test func `each failed round doubles the wait, although its first requests succeed`()
    async throws
  {
    let transport = ScriptedTransport { path, _ in
      path == "changes/zone"
        ? .json("{}", status: 503)
        : .json(#"{"zones":[{"zoneID":\#(Self.zone)}],"syncToken":"t"}"#)
    }
    let rig = try Rig(transport: transport)
    for _ in 1...5 {
      await #expect(throws: RelayError.self) {
        try await rig.client.fetchAllChanges(.database(.private))
      }
    }
    #expect(rig.clock.sleeps == [1, 2, 4, 8].map { .seconds($0) })
  }

  /// Each argument is what the courier answers to every poll, at once and without a wake.
  @Test(arguments: [
    RelayAnswer.json(""), .json("<html>Welcome</html>"), .json("{}", status: 410),
    RelayAnswer(status: 503, headers: ["retry-after": "0"]),
  ])
  func `a courier that answers nothing at once is asked with longer and longer waits`(
    answer: RelayAnswer
  ) async throws {
    let clock = CountedClock(sleeps: 6)
    let transport = ScriptedTransport { path, _ in
      path == "courier/1/a"
        ? answer : .json(#"{"webcourierURL":"https://relay.invalid/courier/1/a"}"#)
    }
    let account = Account(InMemoryRelay())
    let client = try ZoneRelayClient(
      InMemoryRelay().address, state: MemoryStore(), sink: InMemoryCopy(), transport: transport,
      clock: clock, credentials: { try await account.token($0) })
    try await client.register(.courier)
    for try await _ in client.wakes() {}
    #expect(clock.waits == [1, 2, 4, 8, 16, 32].map { .seconds($0) })
    #expect(await transport.count < 20)
  }

  @Test func `a stream that the relay refuses for a time waits as long as it asks`() async throws {
    let (clock, relay) = (CountedClock(sleeps: 2), InMemoryRelay())
    let account = Account(relay)
    let client = try ZoneRelayClient(
      relay.address, state: MemoryStore(), sink: InMemoryCopy(),
      transport: BusyStreams(relay: relay), clock: clock,
      credentials: { try await account.token($0) })
    try await client.register(.courier)
    for try await _ in client.wakes() {}
    #expect(clock.waits == [.milliseconds(7_700), .milliseconds(7_700)])
  }
}

/// The relay in memory, except that it refuses each zone named `zone` in `changes/zone`.
private struct RefusingTransport: RelayTransport {
  private let relay: InMemoryRelay
  private let zone: String

  init(_ relay: InMemoryRelay, zone: String) { (self.relay, self.zone) = (relay, zone) }

  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    var answer = try await relay.send(request)
    guard request.url.path.hasSuffix("changes/zone"),
      var json = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any],
      let items = json["zones"] as? [[String: Any]]
    else { return answer }
    json["zones"] = items.map { item -> [String: Any] in
      let id = item["zoneID"] as? [String: Any]
      guard id?["zoneName"] as? String == zone else { return item }
      return ["zoneID": id ?? [:], "serverErrorCode": "BAD_REQUEST", "reason": "broken"]
    }
    answer.body = try JSONSerialization.data(withJSONObject: json)
    return answer
  }
}

/// Refuses every stream for a time.
private struct BusyStreams: StreamingTransport {
  let relay: InMemoryRelay

  func send(_ request: RelayRequest) async throws -> RelayAnswer { try await relay.send(request) }

  func open(_ request: RelayRequest) async throws -> StreamedAnswer {
    StreamedAnswer(
      status: 503, headers: ["retry-after": "7"], bytes: AsyncThrowingStream { $0.finish() })
  }
}

extension RelayAnswer {
  static func json(_ text: String, status: Int = 200) -> RelayAnswer {
    RelayAnswer(status: status, body: Data(text.utf8))
  }
}

/// Gives the answers that the test chooses by the last two parts of the path (for the courier, the
/// last three) and by the number of earlier requests. After 200 requests it answers 400, so that a
/// loop ends.
private actor ScriptedTransport: RelayTransport {
  private let answer: @Sendable (String, Int) -> RelayAnswer
  private(set) var count = 0
  private(set) var bodies: [String] = []

  init(_ answer: @escaping @Sendable (String, Int) -> RelayAnswer) { self.answer = answer }

  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    defer { count += 1 }
    bodies.append(String(decoding: request.body ?? Data(), as: UTF8.self))
    guard count < 200 else { return .json("{}", status: 400) }
    let parts = request.url.path.split(separator: "/")
    let isCourier = parts.first == "courier"
    return answer(parts.suffix(isCourier ? 3 : 2).joined(separator: "/"), count)
  }
}

/// A clock that fails each sleep after the first `sleeps`. The client then ends its stream of
/// wakes.
private final class CountedClock: ClientClock {
  private let clock = ManualClock()
  private let most: Int

  init(sleeps: Int) { most = sleeps }

  var now: Duration { clock.now }
  var date: Date { clock.date }
  var chance: Double { clock.chance }
  var waits: [Duration] { clock.sleeps }

  func sleep(for time: Duration) async throws {
    guard waits.count < most else { throw CancellationError() }
    try await clock.sleep(for: time)
  }
}
