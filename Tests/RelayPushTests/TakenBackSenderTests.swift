import Crypto
import NIOPosix
import RelayCore
import RelayEngine
import RelayStandin
import Synchronization
import Testing

@testable import RelayPush

/// Every sender checks whether a push was taken back, before the sender sends the push and before
/// the sender sends the push again.
@Suite(.timeLimit(.minutes(1))) struct TakenBackSenderTests {
  private static func isRecalled(_ verdict: Verdict) -> Bool {
    guard case .later(nil, .recalled, _) = verdict else { return false }
    return true
  }

  private static func takenBack() -> Handover {
    let handover = Handover()
    #expect(handover.takeBack { Issue.record("it was not leaving") })
    return handover
  }

  private static func send(
    _ push: Push, _ handover: Handover, by sender: some PushSender
  ) async -> Verdict {
    await withCheckedContinuation { continuation in
      sender.send(push, handover) { continuation.resume(returning: $0) }
    }
  }

  @Test func `the APNs sender does not send a push that was taken back`() async throws {
    try await StandinWorld.run { world in
      let verdict = await Self.send(.sample(), Self.takenBack(), by: world.sender)
      #expect(Self.isRecalled(verdict), "\(verdict)")
      #expect(await world.sender.send(.sample(number: 2)) == .delivered)
      let lines = try world.lines()
      #expect(lines.count == 1)
    }
  }

  @Test func `the FCM sender does not send a push that was taken back`() async throws {
    try await FCMWorld.run { world in
      let verdict = await Self.send(world.push("a"), Self.takenBack(), by: world.sender)
      #expect(Self.isRecalled(verdict), "\(verdict)")
      let lines = try world.lines()
      #expect(lines.allSatisfy { $0.path == "/token" })
    }
  }

  /// The first environment does not know the token, and the push is taken back meanwhile. So the
  /// sender does not try the other environment.
  @Test func `a push that was taken back is not tried in the other environment`() async throws {
    let certificate = try Certificate()
    let handover = Handover()
    var script = ScriptedPeer.Script()
    script.onRequest = { asked in
      // The peer has the push's bytes, so the engine has marked the push as sent, or does so in a
      // moment.
      _ = handover.takeBack {}
      return [.answer(asked.stream, 400, #"{"reason":"BadDeviceToken"}"#)]
    }
    let own = try await ScriptedPeer(script, certificate: certificate)
    let other = try await ScriptedPeer(ScriptedPeer.Script(), certificate: certificate)
    let key = try APNsSettings.Key(
      pem: P256.Signing.PrivateKey().pemRepresentation, keyID: "ABCDE12345", teamID: "TEAM123456")
    let settings = try APNsSettings(
      .init(host: "127.0.0.1", port: own.port), environment: .development,
      other: .init(host: "127.0.0.1", port: other.port), topic: "com.example.notes",
      credential: .key(key), trustRoots: certificate.certificate, limits: EngineWorld.limits)
    let clock = TestClock()
    let sender = try await APNsSender(
      settings, credential: APNsCredential(key), group: MultiThreadedEventLoopGroup.singleton,
      logger: .quiet, now: { clock.now })
    try await StandinWorld.running(sender) {
      var push = Push.sample()
      push.address.environment = .development
      let verdict = await Self.send(push, handover, by: sender)
      #expect(Self.isRecalled(verdict), "\(verdict)")
    }
    #expect(own.record.requests == 1 && other.record.requests == 0)
    try await own.close()
    try await other.close()
  }
}
