import Foundation
import JWTKit
import NIOCore
import NIOPosix
import RelayCore
import RelayEngine
import Testing

@testable import RelayPush

/// Tests against a third-party HTTP/2 server.
@Suite(
  .timeLimit(.minutes(1)),
  .enabled(if: FileManager.default.isExecutableFile(atPath: Nghttpd.program), "needs nghttpd"))
struct NghttpdTests {
  @Test func `each of five thousand pushes gets its verdict`() async throws {
    let server = try Nghttpd(tokens: 100)
    defer { server.stop() }
    let sender = try await server.sender()
    try await StandinWorld.running(sender) {
      let verdicts = await sender.send(5_000, width: 1_000) { number in
        // One push in ten is for a device for which the server has no file.
        let device = number % 10 == 0 ? 10_000 : number % 100
        return .sample(number: UInt64(number), token: Nghttpd.token(device))
      }
      #expect(verdicts.count { $0 == .delivered } == 4_500)
      let unknown = Verdict.later(after: nil, .attempt, .init("status 404"))
      #expect(verdicts.count { $0 == unknown } == 500)
      let status = sender.status
      #expect(status.sent == 5_000 && status.answered == 5_000)
      #expect(status.inFlight == 0 && status.waiting == 0)
      #expect(sender.health.unknownAnswers == 500)
    }
  }

  @Test func `a client certificate replaces the provider token`() async throws {
    let server = try Nghttpd(tokens: 1, options: ["--verify-client"])
    defer { server.stop() }
    let files = server.certificate
    let settings = try APNsSettings(
      .init(host: "127.0.0.1", port: server.port), topic: "com.example.notes",
      credential: .certificate(.init(certificate: files.certificate, key: files.key)),
      trustRoots: files.certificate, limits: EngineWorld.limits)
    let clock = TestClock()
    let sender = try APNsSender(
      settings, credential: nil, group: MultiThreadedEventLoopGroup.singleton, logger: .quiet,
      now: { clock.now })
    try await StandinWorld.running(sender) {
      #expect(await sender.send(.sample(token: Nghttpd.token(0))) == .delivered)
    }
  }

  @Test func `the sender reconnects to a server that was restarted`() async throws {
    let server = try Nghttpd(tokens: 1)
    let sender = try await server.sender()
    try await StandinWorld.running(sender) {
      #expect(await sender.send(.sample(token: Nghttpd.token(0))) == .delivered)
      server.stop()
      let again = try Nghttpd(tokens: 1, port: server.port, certificate: server.certificate)
      defer { again.stop() }
      // A push that was sent on the lost connection gets the verdict `later`. The test sends the
      // push again, as a lane would.
      var verdict = await sender.send(.sample(token: Nghttpd.token(0)))
      for _ in 0..<20 where verdict != .delivered {
        verdict = await sender.send(.sample(token: Nghttpd.token(0)))
      }
      #expect(verdict == .delivered)
    }
  }
}

/// Debian's nghttpd, with one served file for each device.
final class Nghttpd: Sendable {
  /// The program at one of the paths where distributions install nghttpd.
  static let program =
    ["/usr/sbin/nghttpd", "/usr/bin/nghttpd"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    } ?? "/usr/bin/nghttpd"
  let port: Int
  let certificate: Certificate
  private let process: Process

  init(
    tokens: Int, port: Int? = nil, certificate: Certificate? = nil, options: [String] = []
  ) throws {
    let files = try certificate ?? Certificate()
    let devices = "\(files.directory)/www/3/device"
    try FileManager.default.createDirectory(atPath: devices, withIntermediateDirectories: true)
    for number in 0..<tokens {
      try Data("ok".utf8).write(to: URL(filePath: "\(devices)/\(Hex.text(Self.token(number)))"))
    }
    self.certificate = files
    self.port = try port ?? Self.freePort()
    process = Process()
    process.executableURL = URL(filePath: Self.program)
    process.arguments =
      options + [
        "-a", "127.0.0.1", "-d", "\(files.directory)/www", "-m1000", "\(self.port)", files.key,
        files.certificate,
      ]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  static func token(_ number: Int) -> [UInt8] {
    (0..<32).map { UInt8(truncatingIfNeeded: $0 < 30 ? 0xa0 : number >> (8 * (31 - $0))) }
  }

  func sender() async throws -> APNsSender {
    let key = try APNsSettings.Key(
      pem: ES256PrivateKey().pemRepresentation, keyID: "ABCDE12345", teamID: "TEAM123456")
    let settings = try APNsSettings(
      .init(host: "127.0.0.1", port: port), topic: "com.example.notes", credential: .key(key),
      trustRoots: certificate.certificate, limits: EngineWorld.limits)
    let clock = TestClock()
    return try APNsSender(
      settings, credential: try await APNsCredential(key),
      group: MultiThreadedEventLoopGroup.singleton, logger: .quiet, now: { clock.now })
  }

  func stop() {
    guard process.isRunning else { return }
    // nghttpd ignores SIGTERM.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// A free port. Another process on this machine is unlikely to take it in the meantime.
  private static func freePort() throws -> Int {
    let channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).wait()
    defer { channel.close(promise: nil) }
    return try #require(channel.localAddress?.port)
  }
}
