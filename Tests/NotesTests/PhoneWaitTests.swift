import Foundation
import Synchronization
import Testing
import ZoneRelayClient
import ZoneRelayTesting

@testable import zonerelay_notes

/// When the sample's phone asks the relay again.
@Suite struct PhoneWaitTests {
  private let directory: TestDirectory
  /// The times at which the phone asks the record server for notes.
  private let fetched = AsyncStream<Date>.makeStream()

  init() throws { directory = try TestDirectory() }

  private func phone(_ relay: ChangedRelay) async throws -> Phone {
    let fetched = fetched.continuation
    let server = FakeServer { _ in
      fetched.yield(.now)
      return try FakeServer.notes(Note(name: "a", revision: 1, text: "x"))
    }
    return try Phone(
      directory.file("phone"), relay: relay.relay.address, server: server.client, transport: relay
    ) { _ in }
  }

  /// Runs the phone until it has asked the record server.
  private func untilFetch(_ phone: Phone, _ work: () async throws -> Void) async throws -> Date {
    let running = Task { await phone.run() }
    try await work()
    let time = await fetched.stream.first { _ in true }
    running.cancel()
    await running.value
    return try #require(time)
  }

  @Test(.timeLimit(.minutes(1)))
  func `a zone that must wait is fetched at its time`() async throws {
    let relay = ChangedRelay()
    let notBefore = Date(timeIntervalSinceNow: 2)
    await relay.changeWakes { wake in
      guard var pending = wake["zr"] as? [String: Any], let zones = pending["z"] as? [[Any]] else {
        return
      }
      pending["z"] = zones.map { $0 + [1] }
      pending["nb"] = notBefore.timeIntervalSince1970
      wake["zr"] = pending
    }
    let time = try await untilFetch(try await phone(relay)) {
      await relay.untilRequest(to: "courier")
      await relay.relay.save(TestRecord("a"), in: FakeServer.zone)
    }
    #expect(time >= notBefore)
  }

  @Test(.timeLimit(.minutes(1)))
  func `a phone that may not subscribe receives all the same`() async throws {
    let relay = ChangedRelay()
    await relay.answer("subscriptions/modify") {
      let item = #"{"serverErrorCode":"BAD_REQUEST","reason":"no"}"#
      return RelayAnswer(status: 200, body: Data(#"{"subscriptions":[\#(item)]}"#.utf8))
    }
    let phone = try await phone(relay)
    let running = Task { await phone.run() }
    await relay.untilRequest(to: "courier")
    running.cancel()
    await running.value
    #expect(await relay.times(of: "tokens/create").count == 1)
  }

  /// The relay refuses every time to create a courier address. The refusal asks for no wait.
  @Test(.timeLimit(.minutes(1)))
  func `a phone that the relay refuses waits before it asks again`() async throws {
    let relay = ChangedRelay()
    await relay.answer("tokens/create") {
      let body = #"{"serverErrorCode":"BAD_REQUEST","reason":"no"}"#
      return RelayAnswer(status: 400, body: Data(body.utf8))
    }
    let phone = try await phone(relay)
    let running = Task { await phone.run() }
    await relay.untilRequest(to: "tokens/create", count: 3)
    running.cancel()
    await running.value
    let times = await relay.times(of: "tokens/create")
    #expect(times[1] - times[0] >= .seconds(1))
    #expect(times[2] - times[1] >= .seconds(2))
  }

  /// If the network did not come back, the client would wait for 3 to 5 s after the three failed
  /// requests.
  @Test(.timeLimit(.minutes(1)), arguments: [true, false])
  func `a phone whose network is back asks at once`(wasOffline: Bool) async throws {
    let relay = ChangedRelay()
    await relay.relay.save(TestRecord("a"), in: FakeServer.zone)
    await relay.answer("") { throw URLError(.cannotConnectToHost) }
    let phone = try await phone(relay)
    let back = Mutex(Date.distantPast)
    let time = try await untilFetch(phone) {
      await relay.untilRequest(to: "", count: 3)
      if wasOffline { await phone.restart(isOnline: false) }
      await relay.answer("", nil)
      back.withLock { $0 = .now }
      await phone.restart(isOnline: true)
    }
    #expect(time.timeIntervalSince(back.withLock { $0 }) < 2.5)
  }
}

/// A relay in memory whose answers a test can change.
private actor ChangedRelay: RelayTransport {
  nonisolated let relay = InMemoryRelay()
  private var answers: [String: @Sendable () throws -> RelayAnswer] = [:]
  private var changeWake: @Sendable (inout [String: Any]) -> Void = { _ in }
  private var requests: [(path: String, time: ContinuousClock.Instant)] = []

  /// Gives `answer`, in the relay's place, to requests whose path contains `words`. If `answer` is
  /// nil, the relay answers these requests again.
  func answer(_ words: String, _ answer: (@Sendable () throws -> RelayAnswer)?) {
    answers[words] = answer
  }

  func changeWakes(_ change: @escaping @Sendable (inout [String: Any]) -> Void) {
    changeWake = change
  }

  func times(of words: String) -> [ContinuousClock.Instant] {
    requests.filter { Self.has($0.path, words) }.map(\.time)
  }

  func untilRequest(to words: String, count: Int = 1) async {
    while times(of: words).count < count, !Task.isCancelled { await Task.yield() }
  }

  private static func has(_ path: String, _ words: String) -> Bool {
    words.isEmpty || path.contains(words)
  }

  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    let path = request.url.path
    requests.append((path, .now))
    for (words, answer) in answers where Self.has(path, words) { return try answer() }
    var request = request
    request.headers["Authorization"] = "Bearer \(await relay.token(for: "_alice").text)"
    var answer = try await relay.send(request)
    guard path.contains("courier"),
      var wake = try? JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
    else { return answer }
    changeWake(&wake)
    answer.body = try JSONSerialization.data(withJSONObject: wake)
    return answer
  }
}
