import Crypto
import Foundation
import Testing

@testable import RelayStandin

/// Checks of the provider token: its signer, its team, and its age.
@Suite struct ProviderTokenTests {
  @Test(arguments: [
    ("none", "MissingProviderToken"), ("basic", "MissingProviderToken"),
    ("garbled", "InvalidProviderToken"), ("foreign", "InvalidProviderToken"),
    ("algorithm", "InvalidProviderToken"), ("kid", "InvalidProviderToken"),
    ("iss", "InvalidProviderToken"), ("future", "InvalidProviderToken"),
    ("old", "ExpiredProviderToken"),
  ])
  func `a token with a wrong form, key or age is refused`(kind: String, reason: String) async throws
  {
    try await StandinWorld.run { world in
      let header: String? =
        switch kind {
        case "none": nil
        case "basic": "basic abc"
        case "garbled": "bearer a.b.c"
        case "foreign": "bearer \(try world.token(key: P256.Signing.PrivateKey()))"
        case "algorithm": "bearer \(try world.token(algorithm: "none"))"
        case "kid": "bearer \(try world.token(keyID: "short"))"
        case "iss": "bearer \(try world.token(team: ""))"
        case "future": "bearer \(try world.token(age: -600))"
        default: "bearer \(try world.token(age: 3_700))"
        }
      let client = try await world.connect()
      let answer = try await client.send(
        "POST", StandinWorld.path, world.headers(["authorization": header]),
        StandinWorld.background)
      #expect(answer.status == 403)
      #expect(answer.reason == reason)
      try await client.close()
    }
  }

  @Test func `a token refreshed within 20 minutes is refused, and the old one works`()
    async throws
  {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      func send(_ token: String) async throws -> String? {
        try await client.send(
          "POST", StandinWorld.path, world.headers(["authorization": "bearer \(token)"]),
          StandinWorld.background
        ).reason
      }
      let old = try world.token(age: 1_500)
      #expect(try await send(old) == nil)
      #expect(try await send(world.token(age: 600)) == "TooManyProviderTokenUpdates")
      #expect(try await send(old) == nil)
      #expect(try await send(world.token(age: 600, team: "OTHER12345")) == nil)
      #expect(try await send(world.token(age: 0)) == nil)
      #expect(try await send(old) == nil)
      try await client.close()
    }
  }

  /// If two connections each sign the same claims, the stand-in counts one token and not two.
  @Test func `another signature with the same time is not a token update`() throws {
    let key = P256.Signing.PrivateKey()
    var tokens = ProviderTokens(key: key.publicKey)
    for _ in 0..<3 {
      #expect(tokens.check(try Self.header(key, issuedAt: 10_000), at: 10_000) == nil)
    }
  }

  @Test func `a token lives exactly one hour and is renewed after 20 minutes exactly`() throws {
    let key = P256.Signing.PrivateKey()
    var tokens = ProviderTokens(key: key.publicKey)
    let first = try Self.header(key, issuedAt: 10_000)
    #expect(tokens.check(first, at: 10_000) == nil)
    #expect(tokens.check(first, at: 13_600) == nil)
    #expect(tokens.check(first, at: 13_601) == .expiredProviderToken)
    let early = try Self.header(key, issuedAt: 11_199)
    #expect(tokens.check(early, at: 11_199) == .tooManyProviderTokenUpdates)
    let due = try Self.header(key, issuedAt: 11_200)
    #expect(tokens.check(due, at: 11_200) == nil)
  }

  /// Apple knows which key belongs to which team.
  @Test(arguments: [
    ("ABCDE12345", "TEAM123456", true), ("OTHER12345", "TEAM123456", false),
    ("ABCDE12345", "OTHER12345", false),
  ])
  func `a stand-in with ids refuses tokens of another key id or team`(
    keyID: String, team: String, isAccepted: Bool
  ) throws {
    let key = P256.Signing.PrivateKey()
    var tokens = ProviderTokens(key: key.publicKey, keyID: keyID, teamID: team)
    let answer = tokens.check(try Self.header(key, issuedAt: 10_000), at: 10_000)
    #expect(answer == (isAccepted ? nil : .invalidProviderToken))
  }

  @Test func `the number of remembered signatures is bounded`() throws {
    let key = P256.Signing.PrivateKey()
    var tokens = ProviderTokens(key: key.publicKey)
    for _ in 0...ProviderTokens.verifiedMax {
      #expect(tokens.check(try Self.header(key, issuedAt: 10_000), at: 10_000) == nil)
    }
    #expect(tokens.verifiedCount <= ProviderTokens.verifiedMax)
  }

  private static func header(
    _ key: P256.Signing.PrivateKey, issuedAt: Int64
  ) throws -> String {
    func part(_ bytes: Data) -> String {
      bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    }
    let signed =
      part(Data(#"{"alg":"ES256","kid":"ABCDE12345"}"#.utf8)) + "."
      + part(Data(#"{"iss":"TEAM123456","iat":\#(issuedAt)}"#.utf8))
    let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
    return "Bearer \(signed).\(part(signature))"
  }
}
