import Foundation
import Testing
import ZoneRelayTesting
@testable import ZoneRelayClient

@Suite struct NoStormTests {
  @Test func `after each failure the wait doubles up to five minutes`() {
    var backoff = Backoff()
    var waits: [Duration] = []
    for _ in 1...11 { waits.append(backoff.failed(at: .zero, retryAfter: nil, chance: 0.5)) }
    #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map { .seconds($0) })
    backoff.succeeded()
    #expect(backoff.failed(at: .zero, retryAfter: nil, chance: 0.5) == .seconds(1))
  }

  @Test func `a wait is at most a fifth shorter or longer`() {
    for failures in 1...12 {
      var waits: [Duration] = []
      for chance in [0, 0.5, 1] {
        var backoff = Backoff()
        for _ in 1..<failures { _ = backoff.failed(at: .zero, retryAfter: nil, chance: 0.5) }
        waits.append(backoff.failed(at: .zero, retryAfter: nil, chance: chance))
      }
      #expect(waits[0] == waits[1] * 4 / 5)
      #expect(waits[2] == waits[1] * 6 / 5)
    }
  }

  @Test func `the client never comes back sooner than the relay asks`() {
    var backoff = Backoff()
    #expect(backoff.failed(at: .zero, retryAfter: .seconds(10), chance: 0) == .seconds(10))
    #expect(backoff.failed(at: .zero, retryAfter: .seconds(10), chance: 1) == .seconds(12))
    #expect(backoff.until == .seconds(12))
    // With a wait of zero, the client would repeat a failed request without a pause.
    backoff.succeeded()
    #expect(backoff.failed(at: .zero, retryAfter: .zero, chance: 0.5) == .seconds(1))
    #expect(backoff.failed(at: .zero, retryAfter: .zero, chance: 0.5) == .seconds(2))
  }

  @Test func `the call after a failure waits before its request`() async throws {
    let rig = try Rig()
    await rig.relay.fail(.status(503, retryAfter: 7), .unreachable, .unreachable, .lostAnswer)
    for expected in [7_700, 2_000, 4_000, 8_000] {
      let error = await #expect(throws: RelayError.self) {
        try await rig.client.fetchAllChanges(.notifications)
      }
      #expect(error?.retryAfter == .milliseconds(expected))
    }
    #expect(await rig.relay.requests.count == 4)
    try await rig.client.fetchAllChanges(.notifications)
    #expect(rig.clock.sleeps == [7_700, 2_000, 4_000, 8_000].map { .milliseconds($0) })
  }

  @Test(arguments: [
    (408, RelayError.Code.busy), (429, .busy), (500, .busy), (503, .busy), (302, .badAnswer),
    (400, .refused),
  ])
  func `a status has its code`(status: Int, code: RelayError.Code) async throws {
    let rig = try Rig()
    await rig.relay.fail(.status(status))
    let error = await #expect(throws: RelayError.self) {
      try await rig.client.fetchAllChanges(.notifications)
    }
    #expect(error?.code == code)
    #expect(error?.message.contains("notifications/changes: \(status)") == true)
  }

  /// A network that asks for a sign-in, or a proxy, answers with a page of its own.
  @Test(arguments: [200, 410])
  func `an answer that is not the relay's is passing, and waits`(status: Int) async throws {
    let rig = try Rig(transport: PageTransport(status: status))
    let error = await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    #expect(error?.isPassing == true)
    #expect(error?.retryAfter == .seconds(1))
  }

  @Test func `a page that does not advance is an error and no loop`() async throws {
    for path in ["changes/database", "changes/zone", "notifications/changes"] {
      let transport = StuckTransport(path)
      let rig = try Rig(transport: transport)
      let error = await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
      #expect(error?.code == .badAnswer)
      #expect(error?.message.contains("does not advance") == true)
      #expect(await transport.count < 6)
    }
  }

  private static let sunday = "Sun, 06 Nov 1994 08:49:37 GMT"
  private static let device = Date(timeIntervalSince1970: 784_111_767)  // 10 s before `sunday`

  @Test(arguments: [
    ("7", nil, 7.0), (sunday, nil, 10), ("Sunday, 06-Nov-94 08:49:37 GMT", nil, 10),
    ("Sun Nov  6 08:49:37 1994", nil, 10), (sunday, "Sun, 06 Nov 1994 08:49:07 GMT", 30),
    (sunday, "garbage", 10), ("Mon, 06 Nov 2034 08:49:37 GMT", nil, 86_400), ("1e9", nil, 86_400),
  ])
  func `the wait that an answer asks for is read as seconds or as a date`(
    text: String, date: String?, seconds: Double
  ) {
    var answer = RelayAnswer(status: 503, headers: ["retry-after": text])
    if let date { answer.headers["date"] = date }
    #expect(answer.retryAfter(at: Self.device) == .seconds(seconds))
  }

  @Test(arguments: ["", "soon", "-7", "nan", "Sun, 06 Nov 1994 08:49:17 GMT"])
  func `a wait that is over or cannot be read is none`(text: String) {
    let answer = RelayAnswer(status: 503, headers: ["retry-after": text])
    #expect(answer.retryAfter(at: Self.device) == nil)
  }

  @Test func `a refresh sends its request a second after the last failure`() async throws {
    let rig = try Rig()
    await rig.relay.fail(.unreachable, .unreachable, .unreachable, .unreachable, .unreachable)
    for _ in 1...3 {
      await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    }
    #expect(rig.clock.sleeps == [.seconds(1), .seconds(2)])
    for _ in 4...5 {
      await #expect(throws: RelayError.self) { try await rig.client.refresh(.notifications) }
    }
    try await rig.client.refresh(.notifications)
    #expect(Array(rig.clock.sleeps.dropFirst(2)) == [1, 1, 1].map { .seconds($0) })
    rig.clock.pass(.seconds(60))
    await rig.relay.fail(.unreachable)
    await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    rig.clock.pass(.milliseconds(1_500))
    try await rig.client.refresh(.notifications)
    #expect(rig.clock.sleeps.count == 5, "after a second it waits no more")
  }

  @Test func `a refresh is an error at once where the relay has asked for a wait`() async throws {
    let rig = try Rig()
    await rig.relay.fail(.status(503, retryAfter: 3_600))
    await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    let requests = await rig.relay.requests.count
    rig.clock.pass(.seconds(60))
    let error = await #expect(throws: RelayError.self) { try await rig.client.refresh() }
    #expect(error?.code == .busy)
    #expect(error?.retryAfter == .seconds(3_900))
    #expect(error?.message.contains("\(rig.clock.date.addingTimeInterval(3_900))") == true)
    #expect(rig.clock.sleeps.isEmpty)
    #expect(await rig.relay.requests.count == requests)
    rig.clock.pass(.milliseconds(3_899_500))
    try await rig.client.refresh()
    #expect(rig.clock.sleeps == [.milliseconds(500)])
  }

  @Test func `a refresh shortens the wait of an earlier call`() async throws {
    let clock = SteppedClock()
    let (client, relay) = try Rig.client(clock: clock)
    await relay.fail(.unreachable)
    await #expect(throws: RelayError.self) { try await client.fetchAllChanges() }
    let waiting = Task { try await client.fetchAllChanges() }
    await clock.gate.untilArrival()
    clock.passSecond()
    try await client.refresh()
    _ = try await waiting.value
  }

  @Test func `a wait ends when its last caller leaves`() async throws {
    let clock = StandingClock()
    let (client, relay) = try Rig.client(clock: clock)
    await relay.fail(.unreachable)
    await #expect(throws: RelayError.self) { try await client.fetchAllChanges() }
    let waiting = Task { try await client.fetchAllChanges() }
    await clock.gate.untilArrival()
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    await clock.untilEnd()
    #expect(await relay.requests.count == 1)
  }
}

/// Answers one endpoint with the same token and `moreComing` for ever.
private actor StuckTransport: RelayTransport {
  private let path: String
  private(set) var count = 0

  init(_ path: String) { self.path = path }

  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    count += 1
    let isStuck = request.url.path.hasSuffix(path)
    let zone = #"{"zoneName":"Notes","ownerRecordName":"_alice"}"#
    let json =
      request.url.path.hasSuffix("changes/zone")
      ? #"{"zones":[{"zoneID":\#(zone),"records":[],"syncToken":"t","moreComing":\#(isStuck)}]}"#
      : #"{"zones":[{"zoneID":\#(zone)}],"syncToken":"t","moreComing":\#(isStuck)}"#
    return RelayAnswer(status: 200, body: Data(json.utf8))
  }
}

/// Answers each request with a web page, as a hotel's network does, and not with JSON.
private struct PageTransport: RelayTransport {
  let status: Int

  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    RelayAnswer(status: status, body: Data("<html>Welcome</html>".utf8))
  }
}

/// A clock whose sleeps end only when they are cancelled. Its `chance` makes the client wait 1.2 s
/// after the first failure.
private final class SteppedClock: ClientClock {
  let gate = Gate()
  private let clock = ManualClock(chance: 1)
  var now: Duration { clock.now }
  var date: Date { clock.date }
  let chance = 1.0

  func passSecond() { clock.pass(.seconds(1)) }

  func sleep(for time: Duration) async throws {
    await withTaskCancellationHandler {
      await gate.pass()
    } onCancel: {
      Task { await gate.open() }
    }
    try Task.checkCancellation()
  }
}

/// A clock whose sleeps end only when they are cancelled.
private final class StandingClock: ClientClock {
  let gate = Gate()
  private let ended = Gate()
  let now = Duration.zero
  let date = Date(timeIntervalSince1970: 0)
  let chance = 0.5

  func sleep(for time: Duration) async throws {
    await withTaskCancellationHandler {
      await gate.pass()
    } onCancel: {
      Task { await gate.open() }
    }
    await ended.pass()
    try Task.checkCancellation()
  }

  func untilEnd() async {
    await ended.untilArrival()
    await ended.open()
  }
}
