import RelayCore
import RelayHTTP
import Testing

@testable import RelayCommands

/// Problems with the credentials of callers: users' keys and producers' signatures.
@Suite struct AccessProblemTests {
  struct Case: CustomTestStringConvertible {
    var text: String
    var key: String
    var cause: String
    var testDescription: String { "\(key): \(cause)" }
  }

  private static let point =
    #""x":"Q41zTrwdPVbeshb2d-zA0jnAV2I8Z3F6kNM3Vyde93g","#
    + #""y":"ojsy0MIV-5HlI3HgiHLWb_I9ilsUAykBewXR49Z994c""#
  private static let good = #"{"keys":[{"kty":"EC","crv":"P-256","kid":"a",\#(point)}]}"#
  private static let publicKey = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEQ41zTrwdPVbeshb2d+zA0jnAV2I8
    Z3F6kNM3Vyde93iiOzLQwhX7keUjceCIctZv8j2KWxQDKQF7BdHj1n33hw==
    -----END PUBLIC KEY-----
    """

  private static func world() throws -> SettingsWorld {
    let world = try SettingsWorld()
    try world.write(good, to: "jwks.json")
    try world.write(#"{"keys":[]}"#, to: "none.json")
    try world.write(
      #"""
      {"keys":[{"kty":"EC","crv":"P-256","kid":"a","x":"AAAA","y":"AAAA"},
      {"kty":"oct","kid":"b","k":"AAAA"},{"kty":"EC","crv":"P-256","kid":"c",\#(point),"d":"A"}]}
      """#, to: "bad.json")
    try world.write(publicKey, to: "records.pub.pem")
    return world
  }

  private static func read(_ world: SettingsWorld, _ text: String) -> SettingsReading {
    world.read("containers: [{ id: a, environments: { production: { \(text) } } }]")
  }

  static let cases: [Case] = [
    Case(text: "users: { issuer: i }", key: "users.sharedSecret", cause: "is missing"),
    Case(
      text: "users: { sharedSecret: notes-users, jwks: jwks.json }", key: "users.jwks",
      cause: "stands beside sharedSecret"),
    Case(text: "users: { jwks: words }", key: "users.jwks", cause: "is no key set"),
    Case(text: "users: { jwks: gone }", key: "users.jwks", cause: "cannot be read: No such file"),
    Case(text: "users: { jwks: none.json }", key: "users.jwks", cause: "lists no key"),
    Case(text: "users: { jwks: bad.json }", key: "users.jwks", cause: "keys[0] is no ES256"),
    Case(text: "users: { jwks: bad.json }", key: "users.jwks", cause: "keys[1] is a shared secret"),
    Case(text: "users: { jwks: bad.json }", key: "users.jwks", cause: "keys[2] is a private key"),
    Case(
      text: "users: { jwks: 'http://a/b' }", key: "users.jwks", cause: "no https URL of a key set"),
    Case(text: "users: { jwks: 'https://u@a/b' }", key: "users.jwks", cause: "no https URL"),
    Case(text: "users: { jwks: 'https://a:0/b' }", key: "users.jwks", cause: "no https URL"),
    Case(
      text: "users: { jwks: jwks.json, trustRoots: certificate.pem }", key: "users.trustRoots",
      cause: "nothing to serve"),
    Case(
      text: "\(users), producers: [{ name: p }]", key: "producers[0].bearer", cause: "is missing"),
    Case(
      text: "\(users), producers: [{ name: p, bearer: notes-producer, fetchCapacity: 0 }]",
      key: "producers[0].fetchCapacity", cause: "out of range"),
    Case(
      text: "\(users), producers: [{ name: p, bearer: notes-producer, keyID: k }]",
      key: "producers[0].keyID", cause: "stands beside bearer"),
    Case(
      text: "\(users), producers: [{ name: p, keyID: k }]", key: "producers[0].publicKey",
      cause: "is missing"),
    Case(
      text: "\(users), producers: [{ name: p, publicKey: records.pub.pem }]",
      key: "producers[0].keyID", cause: "is missing"),
    Case(
      text: "\(users), producers: [{ name: p, keyID: k, publicKey: words }]",
      key: "producers[0].publicKey", cause: "no P-256 public key"),
    Case(
      text: "\(users), producers: [{ name: p, keyID: k, publicKey: notes-apns-key }]",
      key: "producers[0].publicKey", cause: "holds a private key"),
    Case(
      text: "\(users), producers: [\(signing("p", "k")), \(signing("q", "k"))]", key: "producers",
      cause: "the keyID k stands twice"),
  ]

  private static let users = "users: { sharedSecret: notes-users }"
  private static func signing(_ name: String, _ keyID: String) -> String {
    "{ name: \(name), keyID: \(keyID), publicKey: records.pub.pem }"
  }

  @Test(arguments: cases) func `every credential problem is named by key and has a remedy`(
    _ bad: Case
  ) throws {
    let world = try Self.world()
    defer { world.remove() }
    let reading = Self.read(world, bad.text)
    #expect(reading.settings == nil)
    let key = "containers[0].environments.production.\(bad.key)"
    let problem = try #require(
      reading.problems.first { $0.key == key && $0.cause.contains(bad.cause) },
      "problems: \(reading.problems)")
    #expect(!problem.remedy.isEmpty)
  }

  @Test func `key sets and signing producers are read from the configuration`() throws {
    let world = try Self.world()
    defer { world.remove() }
    let file = Self.read(
      world,
      "users: { jwks: jwks.json, issuer: i }, producers: [\(Self.signing("p", "k")), "
        + "{ name: q, bearer: notes-producer }]")
    #expect(file.problems == [])
    let app = try #require(file.settings?.apps.first)
    guard case .keySet(let set) = app.users.proof else {
      Issue.record("no key set")
      return
    }
    #expect(set.keys.map(\.id) == ["a"])
    #expect(set.keys.map(\.algorithm) == [.es256])
    #expect(app.producers.map(\.keyID) == ["k", nil])
    #expect(file.effective.contains { $0.value == "\(world.path("jwks.json")) (1 key)" })
    let url = Self.read(
      world, "users: { jwks: 'https://accounts.example.com/keys', trustRoots: certificate.pem }")
    #expect(url.problems == [])
    #expect(
      url.settings?.keySetAddresses == [
        KeySetAddress(
          url: "https://accounts.example.com/keys", trustRoots: world.path("certificate.pem"))
      ])
  }

  @Test func `settings that only a restart applies are named key by key`() throws {
    let world = try Self.world()
    defer { world.remove() }
    let old = try #require(world.read(SettingsWorld.yaml()).settings)
    #expect(old.keysFixed(against: old) == [])
    let new = try #require(
      world.read(
        SettingsWorld.yaml(
          extra: """
            server: { listen: "127.0.0.1:1", tokenKeys: [token-key] }
            control: { socket: /other.sock }
            store: { directory: /elsewhere }
            limits: { payloadBytes: 2KiB, connections: 7 }
            log: { level: debug }
            budget: { background: { max: 9 } }
            """)
      ).settings)
    #expect(
      old.keysFixed(against: new) == [
        "server.listen", "server.tokenKeys", "control.socket", "store.directory",
        "limits.payloadBytes", "limits.connections",
      ])
    let pair = "server: { tls: { certificate: certificate.pem, key: notes-apns-key } }"
    let other = "server: { tls: { certificate: expired.pem, key: notes-apns-key } }"
    let secure = try #require(world.read(SettingsWorld.yaml(extra: pair)).settings)
    let renewed = try #require(world.read(SettingsWorld.yaml(extra: other)).settings)
    #expect(old.keysFixed(against: secure) == ["server.tls"])
    #expect(secure.keysFixed(against: renewed) == [])
  }

  @Test func `an answer's maximum age comes from Cache-Control`() {
    #expect(AccountServer.age("public, max-age=600, must-revalidate") == .seconds(600))
    #expect(AccountServer.age("Max-Age=7") == .seconds(7))
    #expect(AccountServer.age("no-cache") == .zero)
    #expect(AccountServer.age("no-store, max-age=9") == .zero)
    #expect(AccountServer.age("public") == nil)
    #expect(AccountServer.age("max-age=99999999999999999999") == .seconds(999_999_999))
    #expect(AccountServer.age("max-age=x") == nil)
  }
}
