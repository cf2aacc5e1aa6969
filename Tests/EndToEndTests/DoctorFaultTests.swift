import Crypto
import Foundation
import RelayCurl
import Testing

/// Fifteen real faults: `zonerelay doctor` reports each of them with its remedy, in the words of
/// the troubleshooting page. `DoctorTests` shows that the doctor reports no fault on a healthy
/// relay.
@Suite(.serialized) struct DoctorFaultTests {
  /// Checks that the doctor reported the finding `code`, and that the troubleshooting page has the
  /// finding's sentence.
  private static func expect(
    _ code: String, _ subject: String, in run: DoctorRun, isWarning: Bool = false
  ) throws {
    let line = try #require(run.line(code), "\(run.lines) \(run.ended.errors)")
    #expect(line.subject.contains(subject), "\(line)")
    #expect(line.result == (isWarning ? "warning" : "failed") && !line.remedy.isEmpty, "\(line)")
    #expect(!line.cause.isEmpty, "\(line)")
    let page = try String(
      contentsOf: root.appendingPathComponent("docs/troubleshooting.md"),
      encoding: .utf8)
    #expect(page.contains("| `\(code)` | \(isWarning ? "!" : "✗") | \(line.message) | "), "\(code)")
    if !isWarning { #expect(run.ended.status == 1) }
  }

  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  // MARK: Apple's credentials

  private static let ids = ["--key-id", "ABCDE12345", "--team", "TEAM123456"]

  @Test(arguments: ["team", "key"])
  func `a wrong team and a wrong key are found by Apple's answer`(fault: String) async throws {
    let (workplace, _) = try await Workplace.forDoctor(Self.ids)
    defer { workplace.remove() }
    if fault == "team" {
      try workplace.reconfigure(("teamID: TEAM123456", "teamID: TEAM999999"))
    } else {
      let key = workplace.file("other.p8")
      try P256.Signing.PrivateKey().pemRepresentation.write(
        to: key, atomically: true, encoding: .utf8)
      try workplace.reconfigure((workplace.file("apns/AuthKey.p8").path, key.path))
    }
    let daemon = try await RunningDaemon.start(in: workplace)
    let run = try await DoctorRun.run(in: workplace)
    try Self.expect("apns_token_refused", "apns com.example.notes of ", in: run)
    #expect(run.line("apns_token_refused")?.remedy.contains("key.teamID") == true)
    #expect(run.codes == ["apns_token_refused"], "\(run.troubles)")
    #expect(await daemon.stop().status == 0)
  }

  /// Apple does not let the team push to the topic.
  @Test func `a wrong topic is found by Apple's answer`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let control = workplace.file("faults.sock").path
    let standin = try await Standin.start(in: workplace, ["--control", control])
    defer { standin.stop() }
    try workplace.configureForDoctor()
    let faults = "answer TopicDisallowed topic=com.example.wrong"
    let answer = try await HTTPClient().send(
      HTTPRequest("PUT", "http://standin/faults", body: [UInt8](faults.utf8), unixSocket: control))
    #expect(answer.status == 200)
    try workplace.reconfigure(("topic: com.example.notes", "topic: com.example.wrong"))
    let daemon = try await RunningDaemon.start(in: workplace)
    let run = try await DoctorRun.run(in: workplace)
    try Self.expect("apns_topic_refused", "apns com.example.wrong of ", in: run)
    #expect(run.codes == ["apns_topic_refused"])
    #expect(await daemon.stop().status == 0)
  }

  /// The certificate is of another authority than Apple's.
  @Test func `a bad certificate is found by Apple's answer`() async throws {
    let (workplace, _) = try await Workplace.forDoctor(["--client-topic", Workplace.topic])
    defer { workplace.remove() }
    let other = try await OtherStandin.start(
      "apns-standin", in: workplace, place: "other", ["--client-topic", Workplace.topic])
    let indent = String(repeating: " ", count: 12)
    try workplace.reconfigure(
      (
        "key:\n\(indent)  path: \(workplace.file("apns/AuthKey.p8").path)\n",
        "certificate:\n\(indent)  path: \(other.directory.path)/client.pem\n"
      ),
      ("  keyID: ABCDE12345\n", "  key: \(other.directory.path)/client.key\n"),
      ("\(indent)  teamID: TEAM123456\n", ""))
    let daemon = try await RunningDaemon.start(in: workplace)
    let run = try await DoctorRun.run(in: workplace)
    try Self.expect("apns_certificate_refused", "apns com.example.notes of ", in: run)
    #expect(run.codes == ["apns_certificate_refused"])
    #expect(await daemon.stop().status == 0)
  }

  /// The clock of daemon and doctor is two hours behind, after a life of the daemon with the right
  /// clock. The stand-in's certificate was made four hours ago, so it is valid by the wrong clock
  /// too, as Apple's older certificate would be.
  @Test func `a wrong clock is found by the relay's time and by Apple's answer`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let wrong = try await Self.shiftedClock(in: workplace)
    let earlier = try Program(
      wrong(-14_400) + [
        Program.binary.path, "apns-standin", "--listen", "127.0.0.1:\(workplace.standinPort)",
        "--directory", workplace.file("apns").path,
      ], in: workplace, name: "earlier", program: URL(fileURLWithPath: "/usr/bin/env"))
    #expect(await earlier.waitForLine("ready"))
    earlier.signal(SIGTERM)
    await earlier.wait()
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    try workplace.configureForDoctor()
    var daemon = try await RunningDaemon.start(in: workplace)
    #expect(try await DoctorRun.run(in: workplace).codes.isEmpty)
    #expect(await daemon.stop().status == 0)

    let through = ["/usr/bin/env"] + wrong(-7_200)
    daemon = try await RunningDaemon.start(in: workplace, through: through)
    let run = try await DoctorRun.run(in: workplace, through: through)
    try Self.expect("clock_behind", "the machine's clock", in: run, isWarning: true)
    try Self.expect("apns_token_expired", "apns com.example.notes of ", in: run)
    #expect(run.line("apns_token_expired")?.remedy.contains("timedatectl") == true)
    #expect(await daemon.stop().status == 0)

    // If the clock shows a time before the certificate was made, TLS fails first.
    let early = try await DoctorRun.run(
      in: workplace, through: ["/usr/bin/env"] + wrong(-100_000))
    try Self.expect("server_untrusted", "apns com.example.notes at ", in: early)
    #expect(early.line("server_untrusted")?.remedy.contains("timedatectl") == true)
  }

  /// Builds the library that shifts a process's clock.
  ///
  /// - Returns: a function from a number of seconds to the words for `env` that shift the clock by
  ///   this number.
  private static func shiftedClock(
    in workplace: Workplace
  ) async throws -> @Sendable (Int) -> [String] {
    let library = workplace.file("wrong_clock.so")
    let source = root.appendingPathComponent("Tests/EndToEndTests/Fixtures/wrong_clock.c")
    let built = await
      (try Program(
        ["-shared", "-fPIC", "-o", library.path, source.path, "-ldl"], in: workplace, name: "cc",
        program: URL(fileURLWithPath: "/usr/bin/cc"))).wait()
    guard built.status == 0 else { throw TestFailure("cc: \(built.errors)") }
    return { ["LD_PRELOAD=\(library.path)", "CLOCK_SHIFT=\($0)"] }
  }

  // MARK: The disk, the ports, the open files and the secrets on the machine

  @Test(
    .enabled(if: SmallTree.canMount, "only root may mount, and a container may forbid it"),
    arguments: ["full", "read-only"])
  func `a full disk and one that is mounted read-only are found by a trial`(fault: String)
    async throws
  {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let run = try await DoctorRun.run(
      in: workplace, ["--offline"],
      through: SmallTree.command(
        at: workplace.file("store").path,
        fault == "full"
          ? #"cat /dev/zero > "$place"/ballast 2>/dev/null;"#
          : #"mount -o remount,ro "$place";"#))
    let code = fault == "full" ? "disk_full" : "disk_read_only"
    try Self.expect(code, workplace.file("store").path, in: run)
  }

  /// Not only the doctor finds a store that is mounted read-only. `check` and `serve` find it, too,
  /// and operators run these first.
  @Test(
    .enabled(if: SmallTree.canMount, "only root may mount, and a container may forbid it"),
    arguments: ["check", "serve"])
  func `check and serve refuse a store that is mounted read-only`(command: String) async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let through = SmallTree.command(
      at: workplace.file("store").path, #"mount -o remount,ro "$place";"#)
    let program = try Program(
      Array(through.dropFirst()) + [
        Program.binary.path, command, "--config", workplace.configPath,
      ], in: workplace, name: command, program: URL(fileURLWithPath: through[0]))
    let ended = await program.wait()
    #expect(ended.status == (command == "check" ? 78 : 1), "\(ended.errors)")
    #expect(ended.errors.contains("read-only") && ended.errors.contains("mount it for writing"))
  }

  @Test func `a taken port is found with the program that has it`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let taken = try TakenPort()
    defer { taken.leave() }
    try workplace.reconfigure(
      ("listen: 127.0.0.1:\(workplace.apiPort)", "listen: 127.0.0.1:\(taken.port)"))
    let run = try await DoctorRun.run(in: workplace)
    try Self.expect("port_taken", "server.listen 127.0.0.1:\(taken.port)", in: run)
    #expect(run.line("port_taken")?.cause.contains("(process \(getpid()))") == true)
    #expect(run.codes == ["port_taken", "daemon_stopped"])
  }

  @Test func `a limit of files below the configuration is found in the daemon's process`()
    async throws
  {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(
      in: workplace, through: ["/bin/sh", "-c", #"ulimit -n 600; exec "$@""#, "sh"])
    let run = try await DoctorRun.run(in: workplace)
    try Self.expect(
      "open_files_too_few", "open files of process \(daemon.program.pid)", in: run, isWarning: true)
    #expect(run.line("open_files_too_few")?.remedy.contains("LimitNOFILE") == true)
    #expect(run.codes == ["open_files_too_few"] && run.ended.status == 0, "\(run.troubles)")
    #expect(await daemon.stop().status == 0)
  }

  /// The doctor assumes that the owner of the store is the daemon's user. Root, who runs the doctor
  /// here, can read every secret, but the daemon's user cannot read the provider key.
  @Test(.enabled(if: geteuid() == 0, "only root may give files away"))
  func `a secret that the daemon's user may not read is found`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o711], ofItemAtPath: workplace.directory.path)
    for name in ["store", "user.secret", "producer.key"] {
      #expect(chown(workplace.file(name).path, 4_711, 4_711) == 0)
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o700], ofItemAtPath: workplace.file(name).path)
    }
    let run = try await DoctorRun.run(in: workplace, ["--offline"])
    let secret = workplace.file("apns/AuthKey.p8").path
    try Self.expect("secret_unreadable", secret, in: run)
    #expect(run.codes == ["secret_unreadable"], "\(run.troubles)")
    #expect(run.line("secret_unreadable")?.remedy.contains("chmod 0640 \(secret)") == true)
  }

  // MARK: The relay and its servers

  /// Before an upgrade, operators keep the new binary beside the old one.
  @Test func `a running daemon is recognized if its binary's name has a suffix`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let binary = workplace.file("zonerelay-new").path
    let daemon = try await RunningDaemon.start(
      in: workplace,
      through: ["/bin/sh", "-c", #"ln -s "$0" "\#(binary)"; exec "\#(binary)" "$@""#])
    let run = try await DoctorRun.run(in: workplace, ["--offline"])
    #expect(run.codes.isEmpty, "\(run.troubles)")
    #expect(await daemon.stop().status == 0)
  }

  @Test func `a token key of another store is found`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    #expect(await daemon.stop().status == 0)
    let key = workplace.file("store/keys/1.key")
    try String(repeating: "0f", count: 32).write(to: key, atomically: true, encoding: .utf8)
    var run = try await DoctorRun.run(in: workplace, ["--offline"])
    try Self.expect("token_key_foreign", key.path, in: run)
    try FileManager.default.removeItem(at: key)
    run = try await DoctorRun.run(in: workplace, ["--offline"])
    try Self.expect("token_key_missing", key.path, in: run)
  }

  @Test func `a provider that is stopped is found, and the daemon's status agrees`() async throws {
    let (workplace, standin) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    standin.stop()
    await standin.program.wait()
    let run = try await DoctorRun.run(in: workplace)
    try Self.expect("server_unreachable", "apns com.example.notes at https://127.0.0.1:", in: run)
    #expect(run.codes == ["server_unreachable"], "\(run.troubles)")
    let route = run.lines.first { $0.group == "credentials" }
    #expect(route?.result == "skipped", "a provider without a connection is not asked")
    #expect(await daemon.stop().status == 0)
  }

  /// Without a network no name has an address, and no query leaves the machine.
  @Test(.enabled(if: SmallTree.canMount, "only root may make a network namespace"))
  func `a name without an address is found`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let own = "endpoint: https://127.0.0.1:\(workplace.standinPort)"
    try workplace.reconfigure((own, "endpoint: https://push.example.invalid:443"))
    let run = try await DoctorRun.run(in: workplace, through: ["/usr/bin/unshare", "--net"])
    try Self.expect(
      "host_unknown", "apns com.example.notes at https://push.example.invalid:443", in: run)
  }

  @Test func `an origin that the running daemon does not know is found until a reload`()
    async throws
  {
    let (workplace, _) = try await Workplace.forDoctor(environment: "origins: []")
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    try workplace.reconfigure(("origins: []", "origins: ['https://app.example.com']"))
    var run = try await DoctorRun.run(in: workplace)
    try Self.expect("origin_refused", "origin https://app.example.com of ", in: run)
    #expect(run.line("origin_refused")?.cause.contains("403") == true)
    #expect(run.codes == ["origin_refused"])
    daemon.program.signal(SIGHUP)
    let isReloaded = try await Pause.until {
      run = try await DoctorRun.run(in: workplace)
      return run.codes.isEmpty
    }
    #expect(isReloaded, "\(run.troubles)")
    #expect(await daemon.stop().status == 0)
  }

  @Test func `a webhook without a server is found`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    let receiver = try await Receiver.start(in: workplace)
    try workplace.configureForDoctor(environment: receiver.configuration(workplace))
    let daemon = try await RunningDaemon.start(in: workplace)
    #expect(try await DoctorRun.run(in: workplace).codes.isEmpty)
    await receiver.stop()
    let run = try await DoctorRun.run(in: workplace)
    try Self.expect("server_unreachable", "webhook of \(Workplace.container) development", in: run)
    #expect(run.codes == ["server_unreachable"], "\(run.troubles)")
    #expect(await daemon.stop().status == 0)
  }

  @Test func `a bad configuration is a finding for each problem, as check has them`() async throws {
    let (workplace, _) = try await Workplace.forDoctor()
    defer { workplace.remove() }
    try workplace.reconfigure(
      ("engine: sqlite", "engine: mysql"),
      ("limits: { connections: 300", "limits: { conections: 1"))
    let run = try await DoctorRun.run(in: workplace)
    #expect(run.codes == ["configuration_bad", "configuration_bad", "daemon_stopped"])
    let check = try await Program.run(["check", "--config", workplace.configPath], in: workplace)
    for line in run.lines where line.code == "configuration_bad" {
      #expect(check.errors.contains("zonerelay: error: \(line.subject): \(line.cause)"), "\(line)")
      #expect(check.errors.contains("zonerelay: hint: \(line.remedy)"), "\(line)")
    }
    let none = try await DoctorRun.run(in: workplace, ["--config", "/nonexistent.yaml"])
    #expect(none.ended.status == 1 && none.codes.first == "configuration_bad", "\(none.lines)")
  }
}

/// A small file system in a mount namespace that ends with the command.
enum SmallTree {
  /// Root may mount, unless a container forbids it.
  static let canMount: Bool = {
    guard geteuid() == 0 else { return false }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    process.arguments =
      ["--mount", "--net", "--propagation", "private", "mount", "-t", "tmpfs", "none", "/mnt"]
    do {
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus == 0
    } catch {
      return false
    }
  }()

  /// The words to put before a command. They mount a file system of 1 MiB at `place`, run `script`,
  /// and then run the command.
  static func command(at place: String, _ script: String) -> [String] {
    let mount = #"place="$1"; shift; mount -t tmpfs -o size=1m none "$place"; "#
    return [
      "/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c",
      mount + script + #" exec "$@""#, "sh", place,
    ]
  }
}
