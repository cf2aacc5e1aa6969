import Foundation
import Testing

/// Four clients of the library in processes of their own, behind a bad network.
@Suite(.serialized) struct ClientCrashTests {
  /// `CLIENT_KILLS=50` sets the long run: 10,000 changes and 50 kills.
  private static let kills =
    Int(ProcessInfo.processInfo.environment["CLIENT_KILLS"] ?? "") ?? 6
  private static let changesPerKill = 200
  private static let requestsPerKill = 16

  /// Relay and clients are killed with `kill -9` at random moments, tokens expire, zones end and
  /// are shared and withdrawn. When all of that has ended, every copy equals the record server's
  /// state.
  @Test func `every copy equals the records after kills and faults`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let proxy = try await FaultyProxy.start(to: workplace.api, rarity: 4)
    let relay = "http://127.0.0.1:\(proxy.port)"
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    try workplace.configure(window: "50ms")
    try workplace.reconfigure(("server:\n", "server:\n  publicURL: \(relay)\n"))
    var daemon = try await RunningDaemon.start(in: workplace)
    var phones: [PhoneProcess] = []
    for (number, user) in ["_abc", "_abc", "_xyz", "_xyz"].enumerated() {
      phones.append(try PhoneProcess(number, user: user, relay: relay, in: workplace))
    }
    var records = RandomRecords(owners: ["_abc", "_xyz"])
    for round in 1...Self.kills {
      await Self.waitForRequests(proxy)
      let goal = round * Self.changesPerKill
      var last: [UInt8] = []
      while records.count < goal {
        last = try Producer.encode(records.next(atMost: 50))
        if records.count < goal { #expect(await Self.deliver(last, daemon)) }
      }
      if round.isMultiple(of: 2) {
        // The kill comes while a request is on its way, and the request is sent again.
        let (running, body) = (daemon, last)
        async let posted = Self.post(body, running)
        await daemon.kill()
        _ = await posted
        daemon = try await RunningDaemon.start(in: workplace)
        #expect(await Self.deliver(last, daemon))
      } else {
        #expect(await Self.deliver(last, daemon))
        try await phones[round / 2 % phones.count].restart()
      }
      if round.isMultiple(of: 3) {
        #expect(try await Self.expireTokens(workplace))
      }
    }
    proxy.endFaults()
    for (number, phone) in phones.enumerated() {
      let expected = records.visible(to: phone.user)
      let isEqual = try await Pause.until(seconds: 120) { try phone.copy() == expected }
      let copy = try phone.copy()
      #expect(isEqual, "phone \(number) has \(copy) and not \(expected)")
      #expect(phone.program.isRunning, "\(phone.program.errors)")
    }
    let status = try await daemon.status()
    #expect(status["ledger"]["balanced"].bool == true)
    print(
      "client crash test: \(records.count) changes, \(Self.kills) kills, faults \(proxy.counts)")
    try await proxy.stop()
    #expect(await daemon.stop().status == 0)
  }

  /// Waits until the clients have sent requests again, so that the next kill meets clients that
  /// fetch, and not clients that still wait after the last kill.
  private static func waitForRequests(_ proxy: FaultyProxy) async {
    let before = proxy.counts.values.reduce(0, +)
    await Pause.until(seconds: 10) {
      proxy.counts.values.reduce(0, +) >= before + requestsPerKill
    }
  }

  /// On a busy machine a commit may take longer than the ten seconds that the command waits.
  private static func expireTokens(_ workplace: Workplace) async throws -> Bool {
    try await Pause.until(seconds: 60) {
      try await Program.run(
        ["expire-tokens", "--control", workplace.controlSocket], in: workplace
      ).status == 0
    }
  }

  /// Sends events until the daemon answers 202. A producer repeats a request that gets no answer,
  /// or that a busy daemon refuses.
  private static func deliver(_ events: [UInt8], _ daemon: RunningDaemon) async -> Bool {
    await Pause.until(seconds: 60) { await post(events, daemon) }
  }

  /// - Returns: whether the daemon has answered 202.
  private static func post(_ events: [UInt8], _ daemon: RunningDaemon) async -> Bool {
    // A killed daemon gives no answer.
    let answer = try? await Producer.send(
      events, to: daemon.web, key: daemon.workplace.producerKey)
    if let answer { #expect([202, 503].contains(answer.status)) }
    return answer?.status == 202
  }
}
