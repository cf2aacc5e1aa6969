import Crypto
import Foundation
import RelayCore
import Testing

@testable import RelayPush

@Suite struct WebPushSettingsTests {
  private static let keys = WebPushKeys()

  @Test(arguments: [
    "", "push@example.com", "mailto:", "mailto:a", "mailto:@b", "mailto:a@", "http://example.com",
    "https://", "mailto:a@b c", "mailto:a@b\n", "mailto:\u{fc}@b",
  ])
  func `an invalid contact is refused`(subject: String) {
    #expect(throws: PushProblem.self) {
      try WebPushSettings(subject: subject, key: Self.keys.privateKey)
    }
  }

  @Test func `an invalid key and missing trust roots are refused`() throws {
    let good = "mailto:push@example.com"
    #expect(throws: PushProblem.self) { try WebPushSettings(subject: good, key: "no key") }
    #expect(throws: PushProblem.self) {
      try WebPushSettings(
        subject: good, key: Self.keys.privateKey, trustRoots: "no/such/file.pem")
    }
    let settings = try WebPushSettings(
      subject: "https://example.com/push", key: Self.keys.privateKey)
    #expect(settings.publicKey == Self.keys.publicKey)
    #expect(Base64URL.bytes(Substring(settings.publicKey))?.count == 65)
  }

  @Test func `the credential keeps one token per origin for half its lifetime`() throws {
    let credential = WebPushCredential(
      try WebPushSettings(subject: "mailto:a@b", key: Self.keys.privateKey))
    let now = Instant(milliseconds: 1_800_000_000_000)
    let first = try credential.authorization(for: "https://a", at: now)
    #expect(try credential.authorization(for: "https://a", at: now + .hours(5)) == first)
    #expect(try credential.authorization(for: "https://b", at: now) != first)
    #expect(try credential.authorization(for: "https://a", at: now + .hours(6)) != first)
    // After the clock went back, the first token would have too long a lifetime.
    #expect(try credential.authorization(for: "https://a", at: now - .hours(1)) != first)
  }

  @Test(arguments: [
    ("https://Push.Example.net/a?b", "https://push.example.net"),
    ("https://push.example.net:443/a", "https://push.example.net"),
    ("https://push.example.net:8443/a", "https://push.example.net:8443"),
    ("http://127.0.0.1:80/a", "http://127.0.0.1"), ("https://[::1]:9/a", "https://[::1]:9"),
  ])
  func `an origin consists of scheme, host and port`(endpoint: String, origin: String) {
    #expect(WebPushRequest.origin(of: endpoint) == origin)
  }
}
