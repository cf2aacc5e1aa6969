import Foundation
import NIOPosix
import RelayCore
import RelayStandin
import Testing

@testable import RelayPush

/// The doctor's probe: a message that FCM validates and does not deliver.
@Suite struct FCMProbeTests {
  /// The stand-in answers at once; the long timeout is for a busy machine.
  private static let limits = EngineLimits(attemptTimeout: .seconds(30), probe: .seconds(1))

  private func ask(
    _ world: FCMWorld, project: String? = nil, account: ServiceAccount? = nil
  ) async throws -> ProbeAnswer {
    let known = try FCMWorld.account(in: world.directory)
    let settings = try FCMSettings(
      host: "127.0.0.1", port: world.standin.port, project: project, account: account ?? known,
      trustRoots: "\(world.directory)/ca.pem", limits: Self.limits)
    return try await FCMProbe.ask(
      settings, group: MultiThreadedEventLoopGroup.singleton, logger: .quiet, at: world.clock.now)
  }

  @Test func `a good account gets 200 for a message that is only validated`() async throws {
    try await FCMWorld.run { world in
      let answer = try await ask(world)
      #expect(answer.outcome == .answered(status: 200, reason: nil))
      let log = try String(contentsOfFile: "\(world.directory)/pushes.jsonl", encoding: .utf8)
      #expect(log.contains(#""validate_only":true"#), "\(log)")
      #expect(try world.lines().count == 2, "one token, one message")
    }
  }

  @Test func `an account of another key gets no access token`() async throws {
    try await FCMWorld.run { world in
      try await FCMWorld.run { other in
        var fields = try JSONDecoder().decode(
          [String: String].self,
          from: Data(contentsOf: URL(fileURLWithPath: "\(other.directory)/service-account.json")))
        fields["token_uri"] = "https://127.0.0.1:\(world.standin.port)/token"
        let account = try ServiceAccount(json: [UInt8](JSONEncoder().encode(fields)))
        let answer = try await ask(world, account: account)
        #expect(answer.outcome == .noToken("no access token: invalid_grant"))
      }
    }
  }

  @Test func `an account without the right to the project gets PERMISSION_DENIED`() async throws {
    try await FCMWorld.run { world in
      let answer = try await ask(world, project: "another-project")
      #expect(answer.outcome == .answered(status: 403, reason: "PERMISSION_DENIED"))
    }
  }
}
