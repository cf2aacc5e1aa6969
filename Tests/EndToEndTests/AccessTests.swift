import Crypto
import Foundation
import RelayCurl
import Testing

/// Users with tokens of an account server, and producers that sign their requests, on the built
/// daemon.
@Suite(.serialized) struct AccessTests {
  private static let path = "/device/1/\(Workplace.container)/development/tokens/list"

  /// Writes the configuration of the test's daemon. `users` replaces the usual line of the section
  /// `users:`, and `producers` comes before the usual producers.
  private static func configure(
    _ workplace: Workplace, users: String, producers: String = ""
  ) throws {
    try workplace.configure()
    let secret = "sharedSecret: \(workplace.file("user.secret").path)"
    try workplace.reconfigure(
      (secret, users), ("producers:\n", "producers:\n\(producers)"))
  }

  private static func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  static func keySet(_ key: P256.Signing.PrivateKey, id: String) -> String {
    let point = key.publicKey.rawRepresentation
    let (x, y) = (base64URL(point.prefix(32)), base64URL(point.suffix(32)))
    return #"{"keys":[{"kty":"EC","crv":"P-256","kid":"\#(id)","x":"\#(x)","y":"\#(y)"}]}"#
  }

  static func token(
    _ key: P256.Signing.PrivateKey, id: String, user: String = "_abc"
  ) throws -> String {
    let expires = Int(Date().timeIntervalSince1970 + 3_600)
    let header = base64URL(Data(#"{"alg":"ES256","kid":"\#(id)"}"#.utf8))
    let claims = base64URL(
      Data(#"{"sub":"\#(user)","aud":"\#(Workplace.container)","exp":\#(expires)}"#.utf8))
    let signed = Data("\(header).\(claims)".utf8)
    return "\(header).\(claims).\(base64URL(try key.signature(for: signed).rawRepresentation))"
  }

  private static func ask(_ web: Web, _ token: String) async throws -> Int {
    try await web.send("POST", path, Array("{}".utf8), token: token).status
  }

  @Test func `the daemon accepts tokens of a key file and signed producer requests`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    let (account, records) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    let file = workplace.file("jwks.json")
    try Self.keySet(account, id: "a").write(to: file, atomically: true, encoding: .utf8)
    try records.publicKey.pemRepresentation.write(
      to: workplace.file("records.pem"), atomically: true, encoding: .utf8)
    let line = "{ name: records-2, keyID: abc, publicKey: \(workplace.file("records.pem").path) }"
    try Self.configure(
      workplace, users: "jwks: \(file.path)",
      producers: String(repeating: " ", count: 10) + "- \(line)\n")
    let check = try await Program.run(["check", "--config", workplace.configPath], in: workplace)
    #expect(check.status == 0)
    #expect(check.output.contains("jwks.json (1 key)"))
    let daemon = try await RunningDaemon.start(in: workplace)
    #expect(try await Self.ask(daemon.web, try Self.token(account, id: "a")) == 200)
    #expect(try await Self.ask(daemon.web, try Self.token(records, id: "a")) == 401)
    #expect(
      try await Self.ask(
        daemon.web, UserJWT.make(user: "_abc", secret: workplace.userSecret)) == 401)
    #expect(try await Self.report(daemon.web, signedBy: records) == 202)
    #expect(try await Self.report(daemon.web, signedBy: account) == 401)
    // A reload makes the daemon read the key files again.
    let next = P256.Signing.PrivateKey()
    try Self.keySet(next, id: "b").write(to: file, atomically: true, encoding: .utf8)
    daemon.program.signal(SIGHUP)
    let fresh = try Self.token(next, id: "b")
    #expect(try await Pause.until { try await Self.ask(daemon.web, fresh) == 200 })
    #expect(try await Self.ask(daemon.web, try Self.token(account, id: "a")) == 401)
    #expect(await daemon.stop().status == 0)
  }

  private static func report(
    _ web: Web, signedBy key: P256.Signing.PrivateKey
  ) async throws -> Int {
    var producer = Producer(web, key: "")
    let body = try Producer.encode([
      producer.event("created", record: "A", zone: "Z", user: "_abc")
    ])
    let path = "/events/1/\(Workplace.container)/development"
    let date = Date().formatted(.iso8601)
    let digest = Data(SHA256.hash(data: Data(body))).base64EncodedString()
    let signature = try key.signature(for: Data("\(date):\(digest):\(path)".utf8))
    let answer = try await web.client.send(
      HTTPRequest(
        "POST", web.base + path,
        headers: [
          (name: "Content-Type", value: "application/cloudevents-batch+json"),
          (name: "X-Apple-CloudKit-Request-KeyID", value: "abc"),
          (name: "X-Apple-CloudKit-Request-ISO8601Date", value: date),
          (
            name: "X-Apple-CloudKit-Request-SignatureV1",
            value: signature.derRepresentation.base64EncodedString()
          ),
        ], body: body))
    return answer.status
  }

  /// Keys from an HTTPS account server that is down at first and then serves a key.
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: openssl)))
  func `the daemon fetches user keys from an HTTPS URL`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    let made = try Program(
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
        "-keyout", workplace.file("server.key").path, "-out", workplace.file("server.pem").path,
      ], in: workplace, name: "openssl", program: URL(fileURLWithPath: Self.openssl))
    try #require(await made.wait().status == 0)
    let port = try FreePort.find()
    let file = workplace.file("keys")
    try Self.configure(
      workplace,
      users: "{ jwks: 'https://localhost:\(port)/keys', trustRoots: "
        + "\(workplace.file("server.pem").path) }")
    let daemon = try await RunningDaemon.start(in: workplace)
    let key = P256.Signing.PrivateKey()
    let token = try Self.token(key, id: "a")
    #expect(try await Self.ask(daemon.web, token) == 503)
    let reasons = try await daemon.status()["reasons"].array.compactMap(\.string)
    #expect(reasons.contains { $0.contains("https://localhost:\(port)") }, "\(reasons)")
    // The file holds the whole HTTP answer, because `openssl s_server -HTTP` adds no head to the
    // file.
    let answer = "HTTP/1.0 200 ok\r\nContent-type: application/json\r\n\r\n"
    try (answer + Self.keySet(key, id: "a")).write(to: file, atomically: true, encoding: .utf8)
    let server = try Program(
      [
        "-c",
        "cd \(workplace.directory.path) && exec \(Self.openssl) s_server -HTTP -quiet "
          + "-accept 127.0.0.1:\(port) -cert server.pem -key server.key",
      ], in: workplace, name: "accounts", program: URL(fileURLWithPath: "/bin/sh"))
    defer { server.signal(SIGTERM) }
    #expect(try await Pause.until(seconds: 40) { try await Self.ask(daemon.web, token) == 200 })
    #expect(try await daemon.status()["healthy"].bool == true)
    #expect(await daemon.stop().status == 0)
  }

  private static let openssl = "/usr/bin/openssl"
}
