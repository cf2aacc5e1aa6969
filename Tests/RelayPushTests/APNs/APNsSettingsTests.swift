import Crypto
import Foundation
import JWTKit
import RelayCore
import Testing

@testable import RelayPush

@Suite struct APNsSettingsTests {
  private static let good = ES256PrivateKey().pemRepresentation

  private func key(
    pem: String = good, keyID: String = "ABCDE12345", teamID: String = "TEAM123456"
  ) throws -> APNsSettings.Key {
    try APNsSettings.Key(pem: pem, keyID: keyID, teamID: teamID)
  }

  private func refusal(_ body: () throws -> Void) -> PushProblem? {
    do {
      try body()
      return nil
    } catch {
      return error as? PushProblem
    }
  }

  @Test func `a valid key is accepted`() throws { _ = try key() }

  @Test(arguments: ["", "nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"])
  func `an invalid key file is refused with a remedy`(pem: String) {
    let problem = refusal { _ = try key(pem: pem) }
    #expect(problem?.code == .providerKey)
    #expect(problem?.remedy.contains("AuthKey_ABCDE12345.p8") == true)
  }

  @Test func `a key of another curve is refused`() {
    let other = ES384PrivateKey().pemRepresentation
    #expect(refusal { _ = try key(pem: other) }?.code == .providerKey)
  }

  @Test(arguments: ["", "ABCDE1234", "ABCDE123456", "ABCDE-1234", "ABCDÉ12345"])
  func `key and team ids must have ten letters and digits`(id: String) {
    #expect(refusal { _ = try key(keyID: id) }?.code == .keyID)
    #expect(refusal { _ = try key(teamID: id) }?.code == .teamID)
  }

  @Test(arguments: ["", "com example", "a\r\nb", String(repeating: "x", count: 256)])
  func `a topic that could break a header is refused`(topic: String) throws {
    let key = try key()
    let problem = refusal {
      _ = try APNsSettings(.init(host: "localhost"), topic: topic, credential: .key(key))
    }
    #expect(problem?.code == .topic)
  }

  @Test func `files and endpoint are checked before a push is sent`() throws {
    let key = try key()
    let roots = refusal {
      _ = try APNsSettings(
        .init(host: "localhost"), topic: "t", credential: .key(key), trustRoots: "/nowhere.pem")
    }
    #expect(roots?.code == .trustRoots)
    #expect(roots?.message.contains("/nowhere.pem") == true)
    let endpoint = refusal {
      _ = try APNsSettings(.init(host: "localhost", port: 0), topic: "t", credential: .key(key))
    }
    #expect(endpoint?.code == .endpoint)
    let certificate = refusal {
      _ = try APNsSettings(
        .init(host: "localhost"), topic: "t",
        credential: .certificate(.init(certificate: "/nowhere.pem", key: "/nowhere.key")))
    }
    #expect(certificate?.code == .certificate)
  }

  @Test func `a certificate and its key are accepted`() throws {
    let files = try Certificate()
    _ = try APNsSettings(
      .init(host: "localhost"), topic: "t",
      credential: .certificate(.init(certificate: files.certificate, key: files.key)))
  }

  /// The relay signs the token, and jwt-kit verifies it independently.
  @Test func `a provider token has the claims and header that Apple requires`() async throws {
    struct Claims: JWTPayload {
      var iss: String
      var iat: Int64
      func verify(using algorithm: some JWTAlgorithm) throws {}
    }
    let key = try key()
    let credential = try await APNsCredential(key)
    let now = Instant(milliseconds: 1_700_000_000_000)
    let bearer = try credential.bearer(at: now)
    #expect(bearer.text.hasPrefix("bearer "))
    let token = String(bearer.text.dropFirst("bearer ".count))
    let keys = JWTKeyCollection()
    try await keys.add(ecdsa: ES256PrivateKey(pem: key.privateKey.pemRepresentation))
    let claims = try await keys.verify(token, as: Claims.self)
    #expect(claims.iss == "TEAM123456")
    #expect(claims.iat == 1_700_000_000)
    let header = try DefaultJWTParser().parse(Array(token.utf8), as: Claims.self).header
    #expect(header.kid == "ABCDE12345")
    #expect(header.alg == "ES256")
    #expect(try credential.bearer(at: now + .minutes(49)) == bearer)
    #expect(try credential.bearer(at: now + .minutes(50)) != bearer)
  }
}
