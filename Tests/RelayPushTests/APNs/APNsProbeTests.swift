import Crypto
import Foundation
import NIOPosix
import RelayCore
import Testing

@testable import RelayPush

/// The doctor's push to an invented device token, and what the stand-in answers to it.
@Suite struct APNsProbeTests {
  /// The stand-in answers at once; the long timeout is for a busy machine.
  private static let limits = EngineLimits(attemptTimeout: .seconds(30), probe: .seconds(1))

  private func ask(
    _ world: StandinWorld, keyOf directory: String? = nil, topic: String = "com.example.notes",
    at now: Instant? = nil
  ) async throws -> ProbeAnswer {
    let place = "\(directory ?? world.directory)/AuthKey.p8"
    let key = try APNsSettings.Key(
      pem: String(contentsOfFile: place, encoding: .utf8), keyID: "ABCDE12345",
      teamID: "TEAM123456")
    let settings = try APNsSettings(
      .init(host: "127.0.0.1", port: world.port), topic: topic, credential: .key(key),
      trustRoots: "\(world.directory)/ca.pem", limits: Self.limits)
    return try await APNsProbe.ask(
      settings, credential: APNsCredential(key), group: MultiThreadedEventLoopGroup.singleton,
      logger: .quiet, at: now ?? world.clock.now)
  }

  @Test func `a good credential gets BadDeviceToken, over one connection of its own`() async throws
  {
    try await StandinWorld.run { world in
      let answer = try await ask(world)
      #expect(answer.outcome == .answered(status: 400, reason: "BadDeviceToken"))
      let lines = try world.lines()
      #expect(lines.count == 1)
      #expect(lines.first?.headers["apns-push-type"] == "background")
      #expect(lines.first?.path.hasPrefix("/3/device/dead") == true)
    }
  }

  @Test func `a wrong key gets InvalidProviderToken`() async throws {
    try await StandinWorld.run { world in
      try await StandinWorld.run { other in
        let answer = try await ask(world, keyOf: other.directory)
        #expect(answer.outcome == .answered(status: 403, reason: "InvalidProviderToken"))
      }
    }
  }

  @Test func `a clock two hours behind gets ExpiredProviderToken`() async throws {
    try await StandinWorld.run { world in
      let answer = try await ask(world, at: world.clock.now + .hours(-2))
      #expect(answer.outcome == .answered(status: 403, reason: "ExpiredProviderToken"))
    }
  }

  /// Nothing listens on the port, so no push ever leaves.
  @Test func `a provider that does not listen gives no answer, and the probe says why`()
    async throws
  {
    let pem = P256.Signing.PrivateKey().pemRepresentation
    let key = try APNsSettings.Key(pem: pem, keyID: "ABCDE12345", teamID: "TEAM123456")
    var limits = EngineWorld.limits
    limits.attemptTimeout = .seconds(2)
    let settings = try APNsSettings(
      .init(host: "127.0.0.1", port: 1), topic: "com.example.notes", credential: .key(key),
      limits: limits)
    let answer = try await APNsProbe.ask(
      settings, credential: APNsCredential(key), group: MultiThreadedEventLoopGroup.singleton,
      logger: .quiet, at: TestClock().now)
    guard case .unanswered(let reason) = answer.outcome else {
      Issue.record("\(answer)")
      return
    }
    #expect(reason.contains("refused"), "\(reason)")
  }
}
