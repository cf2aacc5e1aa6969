import Foundation
import Testing

/// A client certificate in place of a provider key. The test renews the certificate, and replaces
/// it with bad ones, while the daemon runs.
@Suite(.serialized) struct ClientCertificateTests {
  @Test func `the relay uses and renews a client certificate and reports its faults`() async throws
  {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let standin = try await Standin.start(
      in: workplace, ["--client-topic", Workplace.topic])
    defer { standin.stop() }
    try Self.take("client", in: workplace)
    try Self.configure(workplace)
    let daemon = try await RunningDaemon.start(in: workplace)
    let phone = Phone(
      daemon.web, user: "_abc", in: workplace, pushToken: String(repeating: "ab", count: 32))
    try await phone.register()
    try await phone.subscribe(toZone: "Z")
    var scene = Scene(
      workplace: workplace, standin: standin, daemon: daemon, phone: phone,
      producer: Producer(daemon.web, key: workplace.producerKey))
    try await scene.change("A")
    #expect(try await scene.isPushed(1))
    #expect(try scene.taken()[0]["headers"]["authorization"].isNull)
    try await Self.renew(&scene)
    try await Self.mistake(&scene)
    try await Self.unpair(&scene)
    #expect(await daemon.stop().status == 0)
  }

  private struct Scene {
    let workplace: Workplace
    let standin: Standin
    let daemon: RunningDaemon
    let phone: Phone
    var producer: Producer

    mutating func change(_ record: String) async throws {
      let event = producer.event("created", record: record, zone: "Z", user: "_abc")
      #expect(try await producer.post([event]).status == 202)
    }

    func taken() throws -> [JSON] {
      try standin.pushes(to: phone.pushToken).filter { $0["status"].int == 200 }
    }

    func isPushed(_ count: Int) async throws -> Bool {
      try await Pause.until { try taken().count == count }
    }

    func reload() { daemon.program.signal(SIGHUP) }
  }

  /// Installs a certificate of the same authority with another key.
  private static func renew(_ scene: inout Scene) async throws {
    try await issue("renewed", of: "client-ca", in: scene.workplace)
    try take("renewed", in: scene.workplace)
    scene.reload()
    let daemon = scene.daemon
    #expect(await Pause.until { reloads(daemon) == 1 })
    try await scene.change("B")
    #expect(try await scene.isPushed(2))
    let taken = try scene.taken()
    #expect(taken[0]["connection"].int != taken[1]["connection"].int)
  }

  /// Installs a certificate that Apple does not trust: the route stops and reports the reason. With
  /// the good certificate the route continues at once.
  private static func mistake(_ scene: inout Scene) async throws {
    try await issue("foreign", of: nil, in: scene.workplace)
    try take("foreign", in: scene.workplace)
    scene.reload()
    let daemon = scene.daemon
    #expect(await Pause.until { reloads(daemon) == 2 })
    try await scene.change("C")
    let isStopped = try await Pause.until {
      try await daemon.status()["routes"].array.contains {
        $0["lastError"].string == "BadCertificate" && $0["circuit"].string != "closed"
      }
    }
    #expect(isStopped)
    #expect(daemon.program.errors.contains("route stopped"))
    try take("renewed", in: scene.workplace)
    scene.reload()
    #expect(try await scene.isPushed(3))
  }

  /// The daemon detects a key of another certificate before it uses the key.
  private static func unpair(_ scene: inout Scene) async throws {
    try take("client", in: scene.workplace, only: "key")
    scene.reload()
    let daemon = scene.daemon
    let isNamed = try await Pause.until {
      try await daemon.status()["reasons"].array.contains {
        $0.string?.contains("apns[0].certificate.key") == true
      }
    }
    #expect(isNamed)
    let check = try await Program.run(
      ["check", "--config", scene.workplace.configPath], in: scene.workplace)
    #expect(check.status == 78)
    #expect(check.errors.contains("is not the key of the certificate"))
    try await scene.change("D")
    #expect(try await scene.isPushed(4), "the old one stays")
  }

  private static func reloads(_ daemon: RunningDaemon) -> Int {
    daemon.program.errors.split(separator: "\n").count { $0.contains("reloaded") }
  }

  /// Copies the certificate and the key called `name` to the configured paths. If `only` is `pem`
  /// or `key`, copies only that one of the two files.
  private static func take(_ name: String, in workplace: Workplace, only: String? = nil) throws {
    for (kind, from) in [("pem", "apns/\(name).pem"), ("key", "apns/\(name).key")]
    where only == nil || only == kind {
      let data = try Data(contentsOf: workplace.file(from))
      try data.write(to: workplace.file("provider.\(kind)"), options: .atomic)
    }
  }

  /// - Parameter authority: the issuer; `nil` means that the certificate is self-signed.
  private static func issue(
    _ name: String, of authority: String?, in workplace: Workplace
  ) async throws {
    func path(_ name: String) -> String { workplace.file("apns/\(name)").path }
    let signer = authority.map { ["-CA", path("\($0).pem"), "-CAkey", path("\($0).key")] } ?? []
    let ended = await
      (try Program(
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
          "-keyout", path("\(name).key"), "-out", path("\(name).pem"), "-days", "2", "-subj",
          "/UID=\(Workplace.topic)",
        ] + signer, in: workplace, name: "openssl",
        program: URL(fileURLWithPath: "/usr/bin/openssl"))).wait()
    guard ended.status == 0 else { throw TestFailure("openssl: \(ended.errors)") }
  }

  private static func configure(_ workplace: Workplace) throws {
    try workplace.configure(
      window: "0s", extra: "budget: { background: { max: 60, per: 1h } }")
    let indent = String(repeating: " ", count: 12)
    let key = """
      key:
      \(indent)  path: \(workplace.file("apns/AuthKey.p8").path)
      \(indent)  keyID: ABCDE12345
      \(indent)  teamID: TEAM123456
      """
    let certificate = """
      certificate:
      \(indent)  path: \(workplace.file("provider.pem").path)
      \(indent)  key: \(workplace.file("provider.key").path)
      """
    try workplace.reconfigure((key, certificate))
  }
}
