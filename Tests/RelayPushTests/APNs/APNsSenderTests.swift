import Foundation
import RelayCore
import Testing

@testable import RelayPush

@Suite(.serialized, .timeLimit(.minutes(1))) struct APNsSenderTests {
  private static func token(_ word: String) -> [UInt8] {
    Hex.bytes(word) ?? Array(word.utf8)
  }

  @Test func `a push to each kind of device gets its verdict`() async throws {
    var limits = EngineWorld.limits
    limits.attemptTimeout = .seconds(2)
    try await StandinWorld.run(limits: limits) { world in
      let sender = world.sender
      #expect(await sender.send(.sample(number: 1)) == .delivered)
      let alert = Push.sample(
        number: 2, intent: .alert, collapse: "one", payload: #"{"aps":{"alert":"Hello"}}"#)
      #expect(await sender.send(alert) == .delivered)
      #expect(
        await sender.send(.sample(number: 3, token: Self.token("deadbeef")))
          == .gone(at: nil, .init("BadDeviceToken")))
      let gone = await sender.send(.sample(number: 4, token: Self.token("gone")))
      if case .gone(let since?, let reason) = gone {
        #expect(reason.text == "Unregistered")
        #expect(since <= world.clock.now)
      } else {
        Issue.record("\(gone)")
      }
      let busy = await sender.send(.sample(number: 5, token: Self.token("busy")))
      guard case .later(_, .device, Verdict.Reason("TooManyRequests")) = busy else {
        Issue.record("\(busy)")
        return
      }
      let fail = await sender.send(.sample(number: 6, token: Self.token("fail")))
      #expect(fail == .later(after: nil, .attempt, .init("InternalServerError")))
      let mute = await sender.send(.sample(number: 7, token: Self.token("mute")))
      #expect(mute == .later(after: nil, .attempt, .init("timeout: no answer in time")))
      let wrong = await sender.send(.sample(number: 8, payload: #"{"aps":{"alert":"Hello"}}"#))
      #expect(wrong == .rejected(.init("InvalidPushType")))
      let large = String(repeating: "x", count: 4_100)
      let tooLarge = await sender.send(.sample(number: 9, payload: #"{"aps":"\#(large)"}"#))
      #expect(tooLarge == .tooLarge(.init("PayloadTooLarge")))
      #expect(sender.status.timeouts == 1)
    }
  }

  /// After a GOAWAY the unprocessed pushes are sent again under their own ids. A connection that
  /// ends before its answers are read leaves outcomes unknown; the test repeats those pushes as a
  /// lane would. In the end each id is in the stand-in's log.
  @Test func `no push is lost when the provider sends GOAWAY`() async throws {
    var limits = EngineWorld.limits
    limits.attemptTimeout = .seconds(20)
    try await StandinWorld.run(goawayEvery: 97, limits: limits) { world in
      var due = Array(0..<600)
      for _ in 0..<10 where !due.isEmpty {
        let numbers = due
        let verdicts = await world.sender.send(numbers.count, width: 200) {
          .sample(number: UInt64(numbers[$0]))
        }
        due = zip(numbers, verdicts).filter { $1 != .delivered }.map(\.0)
      }
      #expect(due.isEmpty)
      let accepted = try world.lines().filter { $0.status == 200 }
      #expect(Set(accepted.map(\.id)).count == 600)
      #expect(world.sender.status.resent > 0)
      #expect(world.sender.status.goAways >= 6)
      #expect(Set(accepted.map(\.connection)).count > 6)
    }
  }

  @Test func `a stream reset ends one attempt, and every push gets a verdict`() async throws {
    try await StandinWorld.run(resetEvery: 50) { world in
      let verdicts = await world.sender.send(1_000, width: 300) { .sample(number: UInt64($0)) }
      let later = verdicts.filter {
        $0 == .later(after: nil, .attempt, .init("reset by the provider: INTERNAL_ERROR"))
      }
      #expect(later.count == 20)
      #expect(verdicts.count { $0 == .delivered } == 980)
    }
  }

  @Test func `a small stream limit loses no push`() async throws {
    try await StandinWorld.run(maxStreams: 3) { world in
      let verdicts = await world.sender.send(300, width: 300) { .sample(number: UInt64($0)) }
      #expect(verdicts.counted == [.delivered: 300])
    }
  }

  @Test func `an expired provider token is replaced, and the push is sent again`() async throws {
    try await StandinWorld.run { world in
      // The relay's clock is behind, so Apple measures a greater age of the token than the relay
      // does.
      world.clock.shift(by: .minutes(-75))
      let first = await world.sender.send(.sample(number: 1))
      #expect(first == .later(after: nil, .route, .init("ExpiredProviderToken")))
      world.clock.shift(by: .minutes(-56))
      #expect(await world.sender.send(.sample(number: 2)) == first)
      world.clock.shift(by: .minutes(-50))
      #expect(await world.sender.send(.sample(number: 3)) == .delivered)
      let third = try world.lines().filter { $0.id == Push.sample(number: 3).id.text }
      #expect(third.map(\.status) == [403, 200])
    }
  }

  /// Another relay of the same team has just used a new provider token. So this relay's new token
  /// comes too soon for Apple, and this relay's old token stays in use.
  @Test func `the relay keeps its old provider token if the new one comes too soon`() async throws {
    try await StandinWorld.run { world in
      world.clock.shift(by: .minutes(-52))
      #expect(await world.sender.send(.sample(number: 1)) == .delivered)
      let other = TestClock()
      other.shift(by: .minutes(-10))
      let rival = try await StandinWorld.sender(
        directory: world.directory, port: world.port, limits: EngineWorld.limits, clock: other)
      try await StandinWorld.running(rival) {
        #expect(await rival.send(.sample(number: 2)) == .delivered)
      }
      world.clock.shift(by: .zero)
      let refused = await world.sender.send(.sample(number: 3))
      #expect(refused == .later(after: nil, .route, .init("TooManyProviderTokenUpdates")))
      #expect(await world.sender.send(.sample(number: 3)) == .delivered)
      let bearers = try world.lines().filter { $0.status == 200 }.map {
        $0.headers["authorization"]
      }
      #expect(bearers.first == bearers.last)
    }
  }

  @Test func `a refused provider key stops the route`() async throws {
    try await StandinWorld.run { world in
      try FileManager.default.removeItem(atPath: "\(world.directory)/AuthKey.p8")
      try Certificate.openssl(
        "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
        "\(world.directory)/AuthKey.p8")
      let stranger = try await StandinWorld.sender(
        directory: world.directory, port: world.port, limits: EngineWorld.limits,
        clock: world.clock)
      try await StandinWorld.running(stranger) {
        let verdict = await stranger.send(.sample())
        #expect(verdict == .later(after: nil, .route, .init("InvalidProviderToken")))
      }
    }
  }
}

extension [Verdict] {
  /// The number of each verdict.
  var counted: [Verdict: Int] { reduce(into: [:]) { $0[$1, default: 0] += 1 } }
}
