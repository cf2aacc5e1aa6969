import Foundation
import NIOPosix
import RelayCore
import Testing

@testable import RelayPush

/// Client certificates in place of provider tokens: faults that are found before a connection to
/// Apple, and connections that use a certificate.
@Suite(.timeLimit(.minutes(1))) struct ClientCertificateTests {
  private static let topic = "com.example.notes"

  private func settings(
    _ files: EngineSettings.ClientCertificate, port: Int = 443, other: Int? = nil,
    roots: String? = nil
  ) throws -> APNsSettings {
    try APNsSettings(
      .init(host: "127.0.0.1", port: port), other: other.map { .init(host: "127.0.0.1", port: $0) },
      topic: Self.topic, credential: .certificate(files), trustRoots: roots,
      limits: EngineWorld.limits)
  }

  private func problem(_ certificate: AppleCertificate) -> PushProblem? {
    do {
      _ = try settings(certificate.files)
      return nil
    } catch {
      return error as? PushProblem
    }
  }

  @Test func `a certificate's topics are Apple's list, or else the subject's user id`() throws {
    let listed = try AppleCertificate(
      topics: [Self.topic, "\(Self.topic).voip"], userID: "com.example.other")
    let read = try ClientCertificate(listed.files)
    #expect(read.topics == [Self.topic, "\(Self.topic).voip"])
    #expect(read.environments == [.development, .production])
    #expect(problem(listed) == nil)
    let old = try AppleCertificate(userID: Self.topic, marks: [1])
    #expect(try ClientCertificate(old.files).topics == [Self.topic])
    #expect(try ClientCertificate(old.files).environments == [.development])
    let bare = try AppleCertificate(marks: [])
    #expect(problem(bare) == nil, "Apple decides")
    #expect(try ClientCertificate(bare.files).summary.hasPrefix("it names no topic"))
  }

  private func misfit(_ certificate: AppleCertificate) throws -> PushProblem? {
    let now = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    return try ClientCertificate(certificate.files).misfit(certificate.files.certificate, at: now)
  }

  /// The certificate is still accepted, because an expired one must not keep the daemon from
  /// starting.
  @Test func `a certificate outside its validity period is reported with a remedy`() throws {
    let past = Date(timeIntervalSinceNow: -86_400)
    let old = try AppleCertificate(from: past - 60, until: past)
    #expect(problem(old) == nil)
    #expect(try misfit(old)?.code == .certificateTime)
    #expect(try misfit(old)?.message.contains("client.pem expired on 20") == true)
    #expect(try misfit(old)?.remedy.contains("renew") == true)
    let early = try AppleCertificate(from: Date(timeIntervalSinceNow: 3_000))
    #expect(problem(early) == nil)
    #expect(try misfit(early)?.code == .certificateTime)
    #expect(try misfit(AppleCertificate()) == nil)
  }

  @Test func `a certificate that Apple would refuse is refused with a reason`() throws {
    let foreign = try AppleCertificate(topics: ["com.example.other"])
    #expect(problem(foreign)?.code == .certificateTopic)
    #expect(problem(foreign)?.message.contains("for com.example.other, not for") == true)
    let keyOnly = try AppleCertificate()
    let files = EngineSettings.ClientCertificate(
      certificate: keyOnly.files.key, key: keyOnly.files.key)
    let none = #expect(throws: PushProblem.self) { try ClientCertificate(files) }
    #expect(none?.message.hasSuffix("client.key holds no CERTIFICATE block") == true)
    let unpaired = try AppleCertificate(isOfKey: false)
    #expect(problem(unpaired)?.code == .certificateKey)
    #expect(problem(unpaired)?.message.contains("client.key is not the key of") == true)
  }

  @Test func `a certificate for one environment is not tried in the other`() throws {
    let old = try AppleCertificate(userID: Self.topic, marks: [2])
    #expect(try settings(old.files, other: 444).other == nil)
    let both = try AppleCertificate(userID: Self.topic)
    #expect(try settings(both.files, other: 444).other != nil)
  }

  /// Runs `body` with a sender that authenticates with `files` at a stand-in.
  private func sending(
    _ files: EngineSettings.ClientCertificate, _ world: StandinWorld,
    _ body: @Sendable @escaping (APNsSender) async throws -> Void
  ) async throws {
    let sender = try APNsSender(
      try settings(files, port: world.port, roots: "\(world.directory)/ca.pem"), credential: nil,
      group: MultiThreadedEventLoopGroup.singleton, logger: .quiet, now: { world.clock.now })
    try await StandinWorld.running(sender) { try await body(sender) }
  }

  private static func files(_ world: StandinWorld) -> EngineSettings.ClientCertificate {
    .init(certificate: "\(world.directory)/client.pem", key: "\(world.directory)/client.key")
  }

  @Test func `no provider token is sent with a client certificate`() async throws {
    try await StandinWorld.run(clientTopics: [Self.topic]) { world in
      try await sending(Self.files(world), world) { sender in
        #expect(await sender.send(.sample()) == .delivered)
        let lines = try world.lines()
        #expect(lines.allSatisfy { $0.headers["authorization"] == nil })
      }
    }
  }

  @Test func `a certificate of another authority stops the route`() async throws {
    let stranger = try AppleCertificate(topics: [Self.topic])
    try await StandinWorld.run(clientTopics: [Self.topic]) { world in
      try await sending(stranger.files, world) { sender in
        #expect(
          await sender.send(.sample()) == .later(after: nil, .route, .init("BadCertificate")))
      }
    }
  }
}
