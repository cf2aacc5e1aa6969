import Crypto
import Foundation
import NIOCore
import NIOPosix
import RelayCore
import RelayEngine
import RelayStandin
import Synchronization
import Testing

@testable import RelayPush

/// A reload replaces a sender, and the old sender stops. A push that the old sender never sent
/// costs its device nothing and goes to the new sender at once. A push that may have been sent
/// counts as an attempt.
@Suite(.serialized, .timeLimit(.minutes(1))) struct StoppingSenderTests {
  private static func blame(_ verdict: Verdict) -> Verdict.Blame? {
    guard case .later(nil, let blame, _) = verdict else { return nil }
    return blame
  }

  private static func until(_ isSo: () throws -> Bool) async throws {
    while try !isSo() {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// A server that accepts connections and sends nothing.
  private static func withSilence(
    _ body: @Sendable @escaping (_ port: Int) async throws -> Void
  ) async throws {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    try await body(channel.localAddress?.port ?? 0)
    try await channel.close()
  }

  @Test func `a stop recalls an APNs push that waits for a stream`() async throws {
    let certificate = try Certificate()
    var script = ScriptedPeer.Script()
    script.limit = 1
    script.onRequest = { $0.count == 1 ? [.answer($0.stream, 200)] : [] }
    let peer = try await ScriptedPeer(script, certificate: certificate)
    let key = try APNsSettings.Key(
      pem: P256.Signing.PrivateKey().pemRepresentation, keyID: "ABCDE12345", teamID: "TEAM123456")
    var limits = EngineWorld.limits
    limits.connections = 1
    let settings = try APNsSettings(
      .init(host: "127.0.0.1", port: peer.port), topic: "com.example.notes",
      credential: .key(key), trustRoots: certificate.certificate, limits: limits)
    let clock = TestClock()
    let sender = try await APNsSender(
      settings, credential: APNsCredential(key), group: MultiThreadedEventLoopGroup.singleton,
      logger: .quiet, now: { clock.now })
    let verdicts = Gathered<Verdict>(count: 2)
    try await StandinWorld.running(sender) {
      // This push opens the connection, which allows one stream at a time.
      #expect(await sender.send(.sample(number: 1)) == .delivered)
      sender.send(.sample(number: 2)) { verdicts.put(0, $0) }
      try await Self.until { peer.record.requests == 2 }
      sender.send(.sample(number: 3)) { verdicts.put(1, $0) }
      try await Self.until { sender.status.waiting == 1 }
    }
    #expect(await verdicts.all().map(Self.blame) == [.attempt, .recalled])
    #expect(peer.record.requests == 2)
    try await peer.close()
  }

  /// The peer's window has no room for a body, so no push leaves whole but the first, which leaves
  /// before the peer's settings arrive.
  @Test func `a stop recalls a push of which a part never left`() async throws {
    var script = ScriptedPeer.Script()
    script.window = 0
    var limits = EngineWorld.limits
    limits.stopGrace = .zero
    let outcomes = Gathered<Outcome>(count: 1)
    try await EngineWorld.run(script, limits: limits) { world in
      #expect(await world.send(1).first?.status == 200)
      world.engine.send(EngineWorld.request()) { outcomes.put(0, $0) }
      try await Self.until { world.engine.status.sent == 2 }
    }
    let failure = try #require(await outcomes.all().first?.failure)
    #expect(failure.code == .stopped)
    #expect(Self.blame(failure.verdict) == .recalled)
  }

  @Test func `a stop recalls an FCM push that waits for an access token`() async throws {
    let verdicts = Gathered<Verdict>(count: 2)
    try await Self.withSilence { port in
      try await FCMWorld.run(tokensAt: port) { world in
        // The first push requests the token, and the second waits for it.
        for number in 0..<2 {
          world.sender.send(world.push("d\(number)")) { verdicts.put(number, $0) }
        }
      }
    }
    #expect(await verdicts.all().map(Self.blame) == [.recalled, .recalled])
  }

  @Test func `a stop recalls a browser's push that waits for its connection`() async throws {
    let verdicts = Gathered<Verdict>(count: 2)
    var limits = WebLimits()
    limits.stopGrace = .zero
    try await Self.withSilence { [limits] port in
      try await WebPushWorld.run(limits: limits) { world in
        world.sender.send(world.push("mute")) { verdicts.put(0, $0) }
        try await Self.until { try world.lines().count == 1 }
        world.sender.send(world.push("one", port: port)) { verdicts.put(1, $0) }
      }
    }
    #expect(await verdicts.all().map(Self.blame) == [.attempt, .recalled])
  }

  @Test(arguments: [
    (TransportFailure.Code.stopped, Verdict.Blame.recalled), (.cutOff, .recalled), (.lost, .route),
    (.timeout, .route), (.unreachable, .route), (.invalid, .route),
  ])
  func `a missing access token blames the route unless the sender stops`(
    code: TransportFailure.Code, blame: Verdict.Blame
  ) {
    #expect(
      FCMVerdicts.verdict(withoutToken: TransportFailure(code, "x"))
        == .later(after: nil, blame, .init("x")))
  }
}
