import Crypto
import Foundation
import RelayCore
import Synchronization
import Testing

@testable import RelayPush

/// A provider token outlives the process, because Apple refuses updates within 20 minutes.
@Suite struct PersistedProviderTokenTests {
  private let now = Instant(milliseconds: 1_795_000_000_000)

  private func key(_ pem: String) throws -> APNsSettings.Key {
    try APNsSettings.Key(pem: pem, keyID: "ABCDE12345", teamID: "TEAM123456")
  }

  private func file(of pem: String, in directory: String) throws -> String {
    "\(directory)/\(try key(pem).fileName)"
  }

  private func withDirectory(_ body: (String) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try await body(directory.path)
    try FileManager.default.removeItem(at: directory)
  }

  /// The next process uses the same token until the token is 50 minutes old. Only the owner of the
  /// token's file may read the file.
  @Test func `a restarted process reuses the stored token until it is 50 minutes old`() async throws
  {
    let pem = P256.Signing.PrivateKey().pemRepresentation
    try await withDirectory { directory in
      let first = try await APNsCredential(try key(pem), keptIn: directory)
      let token = try first.bearer(at: now)
      let second = try await APNsCredential(try key(pem), keptIn: directory)
      #expect(try second.bearer(at: now + .minutes(5)).text == token.text)
      #expect(try second.bearer(at: now + .minutes(51)).text != token.text)
      let path = try file(of: pem, in: directory)
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  /// The daemon and the doctor run at the same time. The process that is the second to need a new
  /// token uses the token that the first process has signed, so that Apple sees one update.
  @Test func `a process uses the token that another process has signed meanwhile`() async throws {
    let pem = P256.Signing.PrivateKey().pemRepresentation
    try await withDirectory { directory in
      let daemon = try await APNsCredential(try key(pem), keptIn: directory)
      let doctor = try await APNsCredential(try key(pem), keptIn: directory)
      let token = try doctor.bearer(at: now)
      #expect(try daemon.bearer(at: now + .minutes(5)).text == token.text)
      // The daemon and the doctor renew a token at the same age. The daemon is first, so it signs.
      let renewed = try daemon.bearer(at: now + .minutes(50))
      #expect(renewed.text != token.text)
      #expect(try doctor.bearer(at: now + .minutes(52)).text == renewed.text)
      // A token that Apple calls expired is not taken again.
      #expect(daemon.expired(renewed, at: now + .minutes(75)) == .again)
      let next = try daemon.bearer(at: now + .minutes(75))
      #expect(next.text != renewed.text)
    }
  }

  /// Root runs the doctor, and another user the daemon.
  @Test(.enabled(if: geteuid() == 0, "only root may give files away"))
  func `a token that root stores belongs to the owner of its directory`() async throws {
    try await withDirectory { directory in
      #expect(chown(directory, 4_711, 4_712) == 0)
      let pem = P256.Signing.PrivateKey().pemRepresentation
      _ = try await APNsCredential(try key(pem), keptIn: directory).bearer(at: now)
      let attributes = try FileManager.default.attributesOfItem(
        atPath: try file(of: pem, in: directory))
      #expect(attributes[.ownerAccountID] as? Int == 4_711)
      #expect(attributes[.groupOwnerAccountID] as? Int == 4_712)
    }
  }

  /// A token from a clock that was ahead before the restart is replaced at once.
  @Test func `a restarted process replaces a token whose time is in the future`() async throws {
    let pem = P256.Signing.PrivateKey().pemRepresentation
    try await withDirectory { directory in
      let first = try await APNsCredential(try key(pem), keptIn: directory)
      let ahead = try first.bearer(at: now + .hours(3))
      let second = try await APNsCredential(try key(pem), keptIn: directory)
      let right = try second.bearer(at: now)
      #expect(right.text != ahead.text)
      let third = try await APNsCredential(try key(pem), keptIn: directory)
      #expect(try third.bearer(at: now + .minutes(5)).text == right.text)
    }
  }

  /// A relay that starts with a wrong clock keeps its new provider token beside the good one. After
  /// the correction of the clock it uses the good one again, so that Apple does not see a new
  /// provider token too soon. The clock may be ahead or behind, as on a machine whose clock has no
  /// battery.
  @Test(arguments: [Span.days(20 * 365), .days(-20 * 365)])
  func `a start with a wrong clock does not overwrite the valid token`(_ off: Span) async throws {
    let pem = P256.Signing.PrivateKey().pemRepresentation
    try await withDirectory { directory in
      let good = try await APNsCredential(try key(pem), keptIn: directory).bearer(at: now)
      let wrong = try await APNsCredential(try key(pem), keptIn: directory)
      let odd = try wrong.bearer(at: now + off)
      #expect(odd.text != good.text)
      // Apple calls the token expired until the relay sends another token.
      #expect(wrong.expired(odd, at: now + off + .minutes(21)) == .again)
      #expect(try wrong.bearer(at: now + off + .minutes(21)).text != odd.text)
      #expect(try wrong.bearer(at: now + .minutes(29)).text == good.text)
      let right = try await APNsCredential(try key(pem), keptIn: directory)
      #expect(try right.bearer(at: now + .minutes(30)).text == good.text)
      let renewed = try right.bearer(at: now + .minutes(50))
      #expect(renewed.text != good.text)
      let next = try await APNsCredential(try key(pem), keptIn: directory)
      #expect(try next.bearer(at: now + .minutes(60)).text == renewed.text)
    }
  }

  /// A wrong key file with the right ids must leave the right key's token in place. Otherwise,
  /// after the file is corrected, Apple would refuse another token for 20 minutes.
  @Test func `a wrong key with the right ids does not replace the token of the right key`()
    async throws
  {
    let pem = P256.Signing.PrivateKey().pemRepresentation
    try await withDirectory { directory in
      let token = try await APNsCredential(try key(pem), keptIn: directory).bearer(at: now)
      let wrong = try await APNsCredential(
        try key(P256.Signing.PrivateKey().pemRepresentation), keptIn: directory)
      #expect(try wrong.bearer(at: now + .minutes(1)).text != token.text)
      let right = try await APNsCredential(try key(pem), keptIn: directory)
      #expect(try right.bearer(at: now + .minutes(2)).text == token.text)
    }
  }

  /// A token signed with another key, or a file without a token, is not used.
  @Test(arguments: ["garbage", "1\nx.y.z\n", ""])
  func `the credential ignores a token of another key and a damaged file`(_ contents: String)
    async throws
  {
    try await withDirectory { directory in
      let otherPEM = P256.Signing.PrivateKey().pemRepresentation
      let other = try await APNsCredential(try key(otherPEM), keptIn: directory)
      let foreign = try other.bearer(at: now)
      let pem = P256.Signing.PrivateKey().pemRepresentation
      try FileManager.default.moveItem(
        atPath: file(of: otherPEM, in: directory), toPath: file(of: pem, in: directory))
      let own = try await APNsCredential(try key(pem), keptIn: directory)
      #expect(try own.bearer(at: now).text != foreign.text)
      try contents.write(
        toFile: file(of: pem, in: directory), atomically: true, encoding: .utf8)
      let again = try await APNsCredential(try key(pem), keptIn: directory)
      #expect(try again.bearer(at: now).text.hasPrefix("bearer ey"))
    }
  }

  /// The file's time is not signed, so damage to the time must not crash the daemon at each start.
  @Test(arguments: ["-9223372036854775808", "-1", "9223372036854775807", "0"])
  func `the credential replaces a token whose stored time is damaged`(_ time: String) async throws {
    let pem = P256.Signing.PrivateKey().pemRepresentation
    try await withDirectory { directory in
      let first = try await APNsCredential(try key(pem), keptIn: directory)
      let token = try first.bearer(at: now).text
      try "\(time)\n\(token.dropFirst("bearer ".count))\n".write(
        toFile: file(of: pem, in: directory), atomically: true, encoding: .utf8)
      let again = try await APNsCredential(try key(pem), keptIn: directory)
      #expect(try again.bearer(at: now + .minutes(1)).text != token)
    }
  }

  /// The credential reports a directory in which it cannot write, and pushes continue.
  @Test func `the credential reports a token that it cannot store and still uses it`() async throws
  {
    let told = Told()
    let credential = try await APNsCredential(
      try key(P256.Signing.PrivateKey().pemRepresentation), keptIn: "/nonexistent",
      onKeepFailure: { _ in told.tell() })
    #expect(try credential.bearer(at: now).text.hasPrefix("bearer ey"))
    #expect(told.isTold)
  }
}

private final class Told: Sendable {
  private let flag = Mutex(false)
  func tell() { flag.withLock { $0 = true } }
  var isTold: Bool { flag.withLock { $0 } }
}
