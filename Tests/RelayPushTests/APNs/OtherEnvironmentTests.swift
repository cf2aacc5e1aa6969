import Foundation
import Logging
import NIOPosix
import RelayCore
import RelayEngine
import Synchronization
import Testing

@testable import RelayPush

/// Push tokens of Apple's other environment, with two stand-ins that each play one environment.
@Suite(.timeLimit(.minutes(1))) struct OtherEnvironmentTests {
  /// One stand-in for each environment, and a sender whose own environment is development.
  private struct World: Sendable {
    var development: StandinWorld
    var production: StandinWorld
    var sender: APNsSender
    var log: Log

    /// The sender's warnings.
    final class Log: LogHandler, Sendable {
      private let said = Mutex<[String]>([])
      var lines: [String] { said.withLock { $0 } }

      func log(event: LogEvent) {
        said.withLock { $0.append(event.message.description) }
      }

      // `LogHandler` requires the properties below. The level never changes, and there is no
      // metadata.
      var logLevel: Logger.Level {
        get { .warning }
        set {}
      }
      var metadata: Logger.Metadata {
        get { [:] }
        set {}
      }
      subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
      }
    }

    /// The statuses that a push got in development and in production.
    func statuses(_ number: UInt64) throws -> [[Int]] {
      let id = Push.sample(number: number).id.text
      func of(_ world: StandinWorld) throws -> [Int] {
        try world.lines().filter { $0.id == id }.map(\.status)
      }
      return [try of(development), try of(production)]
    }
  }

  /// - Parameters:
  ///   - strangerAbroad: whether the production stand-in refuses the sender's provider key.
  ///   - streamsAtHome: the streams that the sender's own environment allows, on one connection.
  private static func run(
    strangerAbroad: Bool = false, streamsAtHome: Int? = nil,
    _ body: @Sendable @escaping (World) async throws -> Void
  ) async throws {
    var limits = EngineWorld.limits
    if streamsAtHome != nil {
      limits.connections = 1
      limits.attemptTimeout = .seconds(3)
    }
    try await StandinWorld.run(
      maxStreams: streamsAtHome ?? 1_000, environment: "development"
    ) { [limits] development in
      try await StandinWorld.run(
        environment: "production",
        keyOf: strangerAbroad ? nil : development.directory
      ) { production in
        let roots = try ["ca.pem"].flatMap { name in
          try [development, production].map {
            try String(contentsOfFile: "\($0.directory)/\(name)", encoding: .utf8)
          }
        }.joined()
        let path = "\(development.directory)/both.pem"
        try roots.write(toFile: path, atomically: true, encoding: .utf8)
        let pem = try String(
          contentsOfFile: "\(development.directory)/AuthKey.p8", encoding: .utf8)
        let key = try APNsSettings.Key(pem: pem, keyID: "ABCDE12345", teamID: "TEAM123456")
        let settings = try APNsSettings(
          .init(host: "127.0.0.1", port: development.port), environment: .development,
          other: .init(host: "127.0.0.1", port: production.port), topic: "com.example.notes",
          credential: .key(key), trustRoots: path, limits: limits)
        let log = World.Log()
        let sender = try await APNsSender(
          settings, credential: APNsCredential(key),
          group: MultiThreadedEventLoopGroup.singleton,
          logger: Logger(label: "push.tests") { _ in log },
          now: { development.clock.now })
        try await StandinWorld.running(sender) {
          try await body(
            World(development: development, production: production, sender: sender, log: log))
        }
      }
    }
  }

  private static func push(
    _ number: UInt64, _ token: String, said: RelayCore.Environment?
  ) -> Push {
    var push = Push.sample(number: number, token: Array(token.utf8))
    push.address.environment = said
    return push
  }

  @Test func `a token that one environment does not know is tried in the other`() async throws {
    try await Self.run { world in
      let first = Self.push(1, "production-1", said: .development)
      #expect(await world.sender.send(first) == .deliveredElsewhere)
      let seen1 = try world.statuses(1)
      #expect(seen1 == [[400], [200]], "the same id in both")
      let second = Self.push(2, "production-1", said: .production)
      #expect(await world.sender.send(second) == .delivered)
      let seen2 = try world.statuses(2)
      #expect(seen2 == [[], [200]])
      let third = Self.push(3, "development-1", said: .production)
      #expect(await world.sender.send(third) == .deliveredElsewhere)
      let seen3 = try world.statuses(3)
      #expect(seen3 == [[200], [400]])
      let fourth = Self.push(4, "development-1", said: .development)
      #expect(await world.sender.send(fourth) == .delivered)
    }
  }

  @Test func `an unknown token is gone only if both environments refuse it`() async throws {
    try await Self.run { world in
      let dead = Self.push(1, "dead", said: .development)
      #expect(await world.sender.send(dead) == .gone(at: nil, .init("BadDeviceToken")))
      let seen1 = try world.statuses(1)
      #expect(seen1 == [[400], [400]])
      // Unregistered proves that the environment knows the token, so the other one is not tried.
      let gone = Self.push(2, "gone", said: .development)
      guard case .gone(.some, .init("Unregistered")) = await world.sender.send(gone) else {
        Issue.record("not gone")
        return
      }
      let seen2 = try world.statuses(2)
      #expect(seen2 == [[410], []])
    }
  }

  /// Only the sender's own environment accepts the key, so the route works and its circuit stays
  /// closed.
  @Test func `a credential that only the other environment refuses stops no route`() async throws {
    try await Self.run(strangerAbroad: true) { world in
      let lost = Self.push(1, "production-1", said: .development)
      #expect(await world.sender.send(lost) == Self.unjudged)
      let seen1 = try world.statuses(1)
      #expect(seen1 == [[400], [403]])
      let misnamed = Self.push(2, "development-1", said: .production)
      #expect(await world.sender.send(misnamed) == .deliveredElsewhere)
      let seen2 = try world.statuses(2)
      #expect(seen2 == [[200], [403]])
      #expect(world.log.lines == ["the other environment refuses our credential"], "said once")
    }
  }

  private static let unjudged = Verdict.later(
    after: nil, .device,
    .init("BadDeviceToken; the other environment refuses our credential: InvalidProviderToken"))

  /// The device's token belongs to an environment that refuses the relay's key. The sender's own
  /// environment does not know the token, which does not prove that the token is dead.
  @Test func `a token is not gone if its environment refuses our credential`() async throws {
    try await Self.run(strangerAbroad: true) { world in
      let away = Self.push(1, "production-1", said: .production)
      #expect(await world.sender.send(away) == Self.unjudged)
      let seen = try world.statuses(1)
      #expect(seen == [[400], [403]])
      // An Unregistered answer of the sender's own environment still counts, because it proves that
      // this environment knows the token.
      let gone = Self.push(2, "gone", said: .production)
      guard case .gone(.some, .init("Unregistered")) = await world.sender.send(gone) else {
        Issue.record("not gone")
        return
      }
    }
  }

  /// If failures of the other environment counted, twenty devices with tokens of that environment
  /// would stop the route, although the route's own environment works.
  @Test func `failures of the other environment do not count against the route`() async throws {
    try await Self.run { world in
      for (number, token, reason) in [
        (UInt64(1), "fail", "InternalServerError"), (2, "mute", "timeout: "),
      ] {
        let away = Self.push(number, token, said: .production)
        let home = Self.push(number + 10, token, said: .development)
        async let elsewhere = world.sender.send(away)
        let here = await world.sender.send(home)
        guard case .later(nil, .attempt, let told) = here else {
          Issue.record("\(here)")
          continue
        }
        #expect(await elsewhere == .later(after: nil, .device, told))
        #expect(told.text.hasPrefix(reason), "\(told)")
      }
    }
  }

  /// P9: the second try belongs to the same push, so a revocation between the tries prevents the
  /// second try.
  @Test func `a push taken back after its first try is not tried a second time`()
    async throws
  {
    try await Self.run(streamsAtHome: 1) { world in
      async let busy = world.sender.send(Self.push(1, "mute", said: .development))
      while world.sender.status.inFlight == 0 { await Task.yield() }
      let handover = Handover()
      let push = Self.push(2, "development-1", said: .production)
      async let verdict = withCheckedContinuation { continuation in
        world.sender.send(push, handover) { continuation.resume(returning: $0) }
      }
      // The other environment has refused the push, which now waits for the only stream of the
      // sender's own environment.
      while world.sender.status.waiting == 0 { await Task.yield() }
      let seen = try world.statuses(2)
      #expect(seen == [[], [400]])
      #expect(handover.takeBack { Issue.record("nothing of it was leaving") })
      _ = await busy
      guard case .later(nil, .recalled, _) = await verdict else {
        Issue.record("it was sent")
        return
      }
      #expect(await world.sender.send(Self.push(3, "fine", said: .development)) == .delivered)
      let after = try world.statuses(2)
      #expect(after == [[], [400]])
    }
  }

  @Test func `every push goes to the only endpoint if there is no other`() async throws {
    try await StandinWorld.run { world in
      let push = Self.push(1, "production-1", said: .production)
      #expect(await world.sender.send(push) == .delivered)
      let dead = Self.push(2, "dead", said: .development)
      #expect(await world.sender.send(dead) == .gone(at: nil, .init("BadDeviceToken")))
    }
  }
}
