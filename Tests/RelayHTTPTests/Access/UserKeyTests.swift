import CryptoExtras
import HTTPTypes
import RelayCore
import RelayHTTP
import RelayWire
import Testing

/// Users whose tokens are signed with the keys of an account server.
@Suite struct UserKeyTests {
  private static let path = "/device/1/\(Rig.container)/development/tokens/list"

  private static func rig(_ keys: [String]) async throws -> Rig {
    let set = try KeySet(AccountKey.set(keys))
    return await Rig(access: ScopeAccess(users: .init(.keySet(set))))
  }

  private static func ask(_ rig: Rig, _ token: String) async throws -> Rig.Answer {
    try await rig.send(.post, path, "{}", bearer: token)
  }

  private func refuses(_ rig: Rig, _ token: String, _ reason: String) async throws {
    let answer = try await Self.ask(rig, token)
    #expect(answer.status == 401, "\(answer.text)")
    #expect(try answer.string("serverErrorCode") == "AUTHENTICATION_FAILED")
    #expect(try answer.string("reason")?.contains(reason) == true, "\(answer.text)")
  }

  @Test func `tokens of each algorithm are accepted, and kid selects the key`() async throws {
    let all = [AccountKey.curve, try .rsa(), .edwards]
    let others = [AccountKey.curve, try .rsa(), .edwards]
    var shown: [String] = []
    for (index, key) in all.enumerated() {
      shown.append(try key.shown(id: "k\(index)"))
      shown.append(try others[index].shown(id: "o\(index)"))
    }
    let rig = try await Self.rig(shown)
    for (index, key) in all.enumerated() {
      let token = try key.token(#","kid":"k\#(index)","typ":"JWT""#)
      for _ in 1...2 { #expect(try await Self.ask(rig, token).status == 200) }
      try await refuses(rig, try key.token(#","kid":"o\#(index)""#), "does not verify")
      try await refuses(rig, try key.token(#","kid":"gone""#), "kid names no key")
      try await refuses(rig, try key.token(), "must name its key by kid")
    }
  }

  @Test func `a token without kid uses the only key of its algorithm`() async throws {
    let (curve, rsa) = (AccountKey.curve, try AccountKey.rsa())
    let rig = try await Self.rig([try curve.shown(id: "a"), try rsa.shown(id: nil)])
    #expect(try await Self.ask(rig, try curve.token()).status == 200)
    #expect(try await Self.ask(rig, try rsa.token()).status == 200)
    try await refuses(rig, try AccountKey.edwards.token(), "must name its key")
  }

  @Test func `the relay accepts Ed25519 as the newer name of EdDSA`() async throws {
    let key = AccountKey.edwards
    let rig = try await Self.rig([try key.shown(id: "a")])
    let token = try key.token(#","kid":"a""#, algorithm: "Ed25519")
    #expect(try await Self.ask(rig, token).status == 200)
  }

  /// A token cannot choose the kind of key that verifies it.
  @Test func `a public key is never accepted as a shared secret`() async throws {
    guard case .rs256(let rsa) = try AccountKey.rsa() else {
      Issue.record("the account key is no RSA key")
      return
    }
    let (key, curve) = (AccountKey.rs256(rsa), AccountKey.curve)
    let shown = try key.shown(id: "a")
    let rig = try await Self.rig([shown, try curve.shown(id: "b")])
    let primitives = try rsa.publicKey.getKeyPrimitives()
    let secrets: [[UInt8]] = [
      Array(rsa.publicKey.pemRepresentation.utf8), Array(rsa.publicKey.derRepresentation),
      Array(primitives.modulus), Array(shown.utf8), [],
    ]
    for secret in secrets {
      for header in [#"{"alg":"HS256","kid":"a"}"#, #"{"alg":"HS256"}"#] {
        try await refuses(
          rig, AccountKey.forged(secret: secret, header: header), "signed with ES256, RS256, EdDSA")
      }
      let dressed = AccountKey.forged(secret: secret, header: #"{"alg":"RS256","kid":"a"}"#)
      try await refuses(rig, dressed, "does not verify")
    }
    try await refuses(rig, try key.token(#","kid":"b""#), "kid names no key")
    try await refuses(rig, try curve.token(#","kid":"a""#), "kid names no key")
    try await refuses(
      rig, try curve.token(#","kid":"a""#, algorithm: "RS256"), "does not verify")
  }

  @Test func `a token without a signature or with unknown extensions is refused`() async throws {
    let key = AccountKey.curve
    let rig = try await Self.rig([try key.shown(id: "a")])
    let signed = try key.token(#","kid":"a""#)
    let claims = signed.split(separator: ".")[1]
    for header in [#"{"alg":"none"}"#, #"{"alg":"none","kid":"a"}"#, #"{"kid":"a"}"#, "{}"] {
      let head = Base64.urlText(Array(header.utf8))
      try await refuses(rig, "\(head).\(claims).", "signed with ES256")
    }
    let critical = try key.token(#","kid":"a","crit":["b64"],"b64":false"#)
    try await refuses(rig, critical, "must not have crit")
    try await refuses(rig, "abc", "no JWT")
    try await refuses(rig, "\(signed)x", "does not verify")
    try await refuses(rig, signed.split(separator: ".").prefix(2).joined(separator: "."), "verify")
  }

  @Test func `claims are checked as with a shared secret`() async throws {
    let key = AccountKey.curve
    let rig = try await Self.rig([try key.shown(id: "a")])
    let (notes, hour) = (#""aud":"\#(Rig.container)""#, #""exp":1795233600"#)
    let table: [(String, Int)] = [
      (#"{"sub":"_abc",\#(notes),\#(hour)}"#, 200),
      (#"{"sub":"_abc","aud":["x","\#(Rig.container)"],\#(hour)}"#, 200),
      (#"{"sub":"_abc",\#(notes),"exp":1795229941}"#, 200),
      (#"{"sub":"_abc",\#(notes),"exp":1795229940}"#, 401),
      (#"{"sub":"_abc",\#(notes)}"#, 401),
      (#"{"sub":"_abc","aud":"x",\#(hour)}"#, 401),
      (#"{"sub":"_abc",\#(hour)}"#, 401),
      (#"{\#(notes),\#(hour)}"#, 401),
    ]
    for (claims, status) in table {
      let token = try key.token(#","kid":"a""#, claims: claims)
      #expect(try await Self.ask(rig, token).status == status, "\(claims)")
    }
  }

  @Test func `a shared secret accepts only HS256`() async throws {
    let rig = await Rig()
    try await refuses(rig, try AccountKey.curve.token(), "signed with HS256")
    try await refuses(rig, try AccountKey.rsa().token(#","kid":"a""#), "signed with HS256")
    let token = AccountKey.forged(secret: Rig.secret, header: #"{"alg":"HS256","kid":"any"}"#)
    #expect(try await Self.ask(rig, token).status == 200)
  }
}
