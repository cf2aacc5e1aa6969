import Crypto
import Foundation
import Testing

/// `zonerelay doctor` beside a daemon that works: the doctor reports no fault, and changes nothing.
@Suite(.serialized) struct DoctorTests {
  private static let user = "_zonerelay-doctor"

  private static func devices(_ daemon: RunningDaemon) async throws -> [JSON] {
    try await daemon.control("/devices?user=\(user)")["devices"].array
  }

  /// The relay of this test has every kind of provider, an origin, a webhook and a public URL.
  @Test func `a healthy relay has no warning and no failure, and nothing is skipped`() async throws
  {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let google = try await OtherStandin.start("fcm-standin", in: workplace)
    let receiver = try await Receiver.start(in: workplace)
    let keys = try await Program.run(
      ["webpush", "keys", "--out", workplace.file("webpush.pem").path], in: workplace)
    #expect(keys.status == 0)
    let indent = "\n" + String(repeating: " ", count: 8)
    try workplace.configureForDoctor(
      environment: [
        "fcm: { serviceAccount: \(google.directory.path)/service-account.json, endpoint: "
          + "'https://127.0.0.1:\(google.port)', trustRoots: \(google.directory.path)/ca.pem }",
        "webpush: { subject: 'mailto:operator@example.com', key: "
          + "\(workplace.file("webpush.pem").path) }",
        "origins: ['https://app.example.com']", receiver.configuration(workplace),
      ].joined(separator: indent))
    let listen = "listen: 127.0.0.1:\(workplace.apiPort)"
    try workplace.reconfigure((listen, "\(listen)\n  publicURL: \(workplace.api)"))
    let daemon = try await RunningDaemon.start(in: workplace)
    let run = try await DoctorRun.run(in: workplace)
    #expect(run.ended.status == 0, "\(run.ended.errors)")
    #expect(run.troubles.isEmpty, "\(run.troubles)")
    #expect(run.lines.allSatisfy { $0.result == "passed" }, "\(run.lines)")
    let groups = [
      "configuration", "files", "clock", "limits", "disk", "store", "port", "daemon", "network",
      "credentials", "change",
    ]
    #expect(Set(run.lines.map(\.group)) == Set(groups))
    let publicKey = keys.output.trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(run.lines.contains { $0.message.contains(publicKey) })
    #expect(run.lines.contains { $0.message == "it leads to this relay" })
    #expect(run.lines.filter { $0.group == "change" && $0.seconds != nil }.count == 6)
    #expect(try receiver.received().isEmpty, "the webhook gets nothing")
    #expect(try google.pushes(to: "messages:send").count == 1)
    #expect(await daemon.stop().status == 0)
    await receiver.stop()
  }

  @Test func `a given key that no producer has is named`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let key = workplace.file("producer.pem")
    try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: key)
    let daemon = try await RunningDaemon.start(in: workplace)
    let run = try await DoctorRun.run(in: workplace, ["--producer-key", key.path])
    let line = run.lines.first { $0.subject == "--producer-key" }
    #expect(line?.result == "skipped" && line?.remedy.contains("publicKey") == true)
    #expect(run.ended.status == 0, "the change travels with the producer's bearer")
    #expect(await daemon.stop().status == 0)
  }

  /// The doctor's text for people has the same findings as the JSON, each finding with its sign.
  @Test func `the text has a sign and a heading for each group, and the last line says all`()
    async throws
  {
    let (workplace, standin) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    var ended = try await Program.run(["doctor", "-c", workplace.configPath], in: workplace)
    #expect(ended.status == 0)
    #expect(ended.output.contains("change\n  ✓ ok a device registers: "), "\(ended.output)")
    #expect(ended.output.contains("\nall is well: "))
    #expect(ended.errors.contains("zonerelay: letting a change travel in "))
    standin.stop()
    await standin.program.wait()
    ended = try await Program.run(["doctor", "-c", workplace.configPath], in: workplace)
    #expect(ended.status == 1)
    #expect(ended.output.contains("  ✗ failed apns com.example.notes at https://"))
    #expect(ended.output.contains("\n      remedy: start that server"))
    #expect(ended.output.contains("\nbegin with: network: apns com.example.notes at https://"))
    #expect(await daemon.stop().status == 0)
  }

  /// The ledger, the budgets and the devices of the app have exactly the same numbers before and
  /// after the runs.
  @Test func `doctors change no number of the ledger and spend no budget`() async throws {
    let (workplace, standin) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    try workplace.reconfigure(
      ("limits: {", "budget: { background: { max: 2, per: 1h } }\nlimits: {"))
    let daemon = try await RunningDaemon.start(in: workplace)
    let phone = Phone(
      daemon.web, user: "_abc", in: workplace, pushToken: String(repeating: "ab", count: 32))
    try await phone.register()
    try await phone.subscribe(toZone: "Z")
    var producer = Producer(daemon.web, key: workplace.producerKey)
    func change() async throws {
      let event = producer.event("created", record: "R\(producer.count)", zone: "Z", user: "_abc")
      #expect(try await producer.post([event]).status == 202)
    }
    func isPushed(_ count: Int) async throws -> Bool {
      try await Pause.until {
        let status = try await daemon.control("/status")
        return try standin.pushes(to: phone.pushToken).count == count
          && status["ledger"]["woken"].int == count && status["lanes"]["inFlight"].int == 0
      }
    }
    try await change()
    #expect(try await isPushed(1))
    let before = try await daemon.control("/status")
    for _ in 0..<3 {
      let run = try await DoctorRun.run(in: workplace)
      #expect(run.ended.status == 0, "\(run.troubles)")
    }
    let after = try await daemon.control("/status")
    for part in ["ledger", "lanes", "fanouts", "reasons"] {
      #expect(after[part].text == before[part].text, "\(part)")
    }
    let routes = { (status: JSON) in
      status["routes"].array.filter { $0["transport"].string == "apns" }.map(\.text)
    }
    #expect(routes(after) == routes(before))
    #expect(try await Self.devices(daemon).isEmpty, "the doctor's devices are gone")
    // In each run the relay accepted two changes: the doctor's record, and the end of the doctor's
    // zone.
    let accepted =
      (after["changes"]["accepted"].int ?? 0) - (before["changes"]["accepted"].int ?? 0)
    #expect(accepted == 6)
    try await change()
    #expect(try await isPushed(2), "the budget still has its second wake")
    #expect(await daemon.stop().status == 0)
  }

  @Test func `two doctors at the same time do not disturb each other`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    async let first = DoctorRun.run(in: workplace)
    async let second = DoctorRun.run(in: workplace)
    async let third = DoctorRun.run(in: workplace)
    for run in try await [first, second, third] {
      #expect(run.ended.status == 0, "\(run.troubles) \(run.ended.errors)")
      #expect(run.lines.filter { $0.group == "change" }.count == 7)
    }
    #expect(try await Self.devices(daemon).isEmpty)
    #expect(try await daemon.control("/status")["ledger"]["matched"].int == 0)
    #expect(await daemon.stop().status == 0)
  }

  /// The window is so long that the signal comes while the doctor's device waits for its wake.
  @Test(arguments: [SIGINT, SIGTERM, SIGKILL])
  func `an interrupted doctor cleans up, and a killed one is cleaned up after`(signal: Int32)
    async throws
  {
    let (workplace, _) = try await Workplace.forDoctor(window: "2s")
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    let doctor = try Program(["doctor", "-c", workplace.configPath], in: workplace, name: "doctor")
    #expect(await Pause.until { doctor.output.contains("202: the change is durable") })
    doctor.signal(signal)
    let ended = await doctor.wait()
    let left = try await Self.devices(daemon)
    if signal == SIGKILL {
      #expect(left.count == 1)
      #expect(left.first?["pending"].int ?? 0 <= 1)
    } else {
      #expect(ended.status == 1 && left.isEmpty)
      #expect(ended.output.contains("the doctor was interrupted before the change had arrived"))
      #expect(ended.output.contains("its zone, subscription and device are gone"))
    }
    let status = try await daemon.control("/status")
    #expect(status["healthy"].bool == true && status["ledger"]["matched"].int == 0)
    #expect(status["lanes"]["due"].int == 0 && status["oldestPendingAge"].double == 0)
    let next = try await DoctorRun.run(in: workplace)
    #expect(next.ended.status == 0, "\(next.troubles)")
    #expect(await daemon.stop().status == 0)
  }

  /// No authority that the machine knows has signed the certificate. The doctor only warns, because
  /// the devices may know the authority, and the doctor cannot check this.
  @Test func `a relay with TLS of its own is walked through`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let made = await
      (try Program(
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
          "-keyout",
          workplace.file("tls.key").path, "-out", workplace.file("tls.pem").path, "-days", "2",
          "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
        ], in: workplace, name: "openssl", program: URL(fileURLWithPath: "/usr/bin/openssl")))
      .wait()
    #expect(made.status == 0, "\(made.errors)")
    let listen = "listen: 127.0.0.1:\(workplace.apiPort)"
    let (certificate, key) = (workplace.file("tls.pem").path, workplace.file("tls.key").path)
    let tls = "tls: { certificate: \(certificate), key: \(key) }"
    try workplace.reconfigure(
      (listen, "\(listen)\n  publicURL: https://localhost:\(workplace.apiPort)\n  \(tls)"))
    let daemon = try Program(["serve", "-c", workplace.configPath], in: workplace, name: "serve")
    let isUp = try await Pause.until {
      try await Program.run(["status", "-c", workplace.configPath], in: workplace).status == 0
    }
    #expect(isUp, "\(daemon.errors)")
    let run = try await DoctorRun.run(in: workplace)
    #expect(run.codes == ["public_url_elsewhere"], "\(run.troubles)")
    #expect(run.line("public_url_elsewhere")?.result == "warning" && run.ended.status == 0)
    #expect(run.lines.filter { $0.group == "change" && $0.result == "passed" }.count == 7)
    daemon.signal(SIGTERM)
    #expect(await daemon.wait().status == 0)
  }

  /// The workplace is closed to other users, so such a user cannot even see whether the workplace
  /// has a store.
  @Test(.enabled(if: geteuid() == 0, "only root may run a program as another user"))
  func `another user's doctor calls nothing good or bad that it may not see`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    let copy = FileManager.default.temporaryDirectory.appendingPathComponent(
      "zonerelay-\(UUID().uuidString).yaml")
    try FileManager.default.copyItem(atPath: workplace.configPath, toPath: copy.path)
    // A copy of the configuration that is left behind does no harm.
    defer { try? FileManager.default.removeItem(at: copy) }
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy.path)
    let doctor = try Program(
      [
        "--reuid=65534", "--regid=65534", "--clear-groups", Program.binary.path, "doctor", "--json",
        "--config", copy.path,
      ], in: workplace, name: "other", program: URL(fileURLWithPath: "/usr/bin/setpriv"))
    let run = DoctorRun(await doctor.wait())
    for group in ["files", "disk", "store"] {
      let found = run.lines.filter { $0.group == group }
      #expect(found.map(\.result) == ["skipped"], "\(found) \(run.ended.errors)")
      #expect(found.first?.remedy == "run the doctor as root or as the daemon's user")
    }
    #expect(await daemon.stop().status == 0)
  }

  /// The running daemon knows another producer key than the file holds, as before a reload.
  @Test func `a change that is refused ends the walk, and the doctor cleans up`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    try "another-producer-key-of-thirty-two-chars".write(
      to: workplace.file("producer.key"), atomically: true, encoding: .utf8)
    let run = try await DoctorRun.run(in: workplace)
    #expect(run.ended.status == 1 && run.codes == ["change_post"], "\(run.troubles)")
    #expect(run.line("change_post")?.cause.contains("401") == true)
    #expect(run.lines.last?.message == "its zone, subscription and device are gone")
    #expect(try await Self.devices(daemon).isEmpty)
    #expect(await daemon.stop().status == 0)
  }

  @Test func `without a key the change is skipped, and the flags give the keys`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let (account, records) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    let files = [
      "jwks.json": AccessTests.keySet(account, id: "a"),
      "records.pem": records.publicKey.pemRepresentation,
      "records-key.pem": records.pemRepresentation,
      "doctor.jwt": try AccessTests.token(account, id: "a", user: Self.user) + "\n",
      "person.jwt": try AccessTests.token(account, id: "a"),
    ]
    for (name, text) in files {
      try text.write(to: workplace.file(name), atomically: true, encoding: .utf8)
    }
    try workplace.reconfigure(
      (
        "sharedSecret: \(workplace.file("user.secret").path)",
        "jwks: \(workplace.file("jwks.json").path)"
      ),
      (
        "bearer: \(workplace.file("producer.key").path)",
        "keyID: abc, publicKey: \(workplace.file("records.pem").path)"
      ))
    let daemon = try await RunningDaemon.start(in: workplace)
    func change(_ options: [String]) async throws -> DoctorRun {
      let run = try await DoctorRun.run(in: workplace, options)
      #expect(run.ended.status == 0, "\(run.troubles) \(run.ended.errors)")
      return run
    }
    let token = ["--user-token", workplace.file("doctor.jwt").path]
    let key = ["--producer-key", workplace.file("records-key.pem").path]
    #expect(try await change([]).lines.last?.remedy.contains("--user-token FILE") == true)
    let half = try await change(token).lines.last
    #expect(half?.result == "skipped" && half?.remedy.contains("--producer-key FILE") == true)
    #expect(try await change(token + key).lines.filter { $0.group == "change" }.count == 7)
    // With a person's token the doctor would change that person's feed.
    let person = try await DoctorRun.run(
      in: workplace, ["--user-token", workplace.file("person.jwt").path])
    #expect(person.ended.status == 64)
    #expect(person.ended.errors.contains("is for the user _abc"))
    #expect(await daemon.stop().status == 0)
  }
}
