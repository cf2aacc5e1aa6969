import Foundation
import Glibc
import RelayCore
import RelayHTTP
@testable import RelayCurl
import RelayKeys
import RelayPush
@testable import RelaySystem
import RelayWire
import Synchronization
import Testing

@testable import RelayCommands

/// Which finding follows from which evidence.
@Suite struct EvidenceTests {
  private func codes(_ findings: [Finding]) -> [String] {
    findings.map { $0.code?.text ?? $0.result.rawValue }
  }

  @Test func `each problem of the configuration is a finding with its remedy`() {
    let problem = Problem(
      key: "server.listen", cause: "is no address", remedy: "write one", line: 7)
    let found = ConfigurationEvidence(file: "z.yaml", problems: [problem, problem]).findings
    #expect(codes(found) == ["configuration_bad", "configuration_bad"])
    #expect(found.first?.subject == "server.listen (line 7)" && found.first?.remedy == "write one")
    #expect(codes(ConfigurationEvidence(file: "z.yaml", problems: []).findings) == ["passed"])
  }

  // MARK: Files

  private func file(_ path: String, mode: Int, owner: Int = 0, above: Int = 0o755) -> SeenFile {
    SeenFile(
      path: path, permissions: FilePermissions(owner: owner, group: 0, mode: mode),
      above: [FilePermissions(owner: 0, group: 0, mode: above)])
  }

  private func files(
    _ secrets: [SeenFile], store: [SeenFile] = [], credentials: String? = nil, user: Int = 999
  ) -> [Finding] {
    FilesEvidence(
      user: SystemUser(id: user, groups: [user], name: "zonerelay"), secrets: secrets,
      store: store.map { ($0, [.read, .write]) }, credentials: credentials
    ).findings
  }

  @Test func `a secret that the daemon's user cannot reach is found`() {
    let closed = file("/etc/zonerelay/secrets/key", mode: 0o600)
    let found = files([closed])
    #expect(codes(found) == ["secret_unreadable"])
    #expect(found.first?.cause?.contains("its mode 0600") == true)
    #expect(found.first?.remedy?.contains("chmod 0640 /etc/zonerelay/secrets/key") == true)
    let below = file("/etc/zonerelay/secrets/key", mode: 0o644, above: 0o700)
    #expect(codes(files([below])) == ["secret_unreadable"])
    #expect(codes(files([file("/etc/key", mode: 0o600, owner: 999)])) == ["passed"])
    #expect(codes(files([closed], user: 0)) == ["passed"], "root may read everything")
  }

  @Test func `systemd reads credentials as root, so the daemon's user need not`() {
    let closed = file("/etc/zonerelay/secrets/key", mode: 0o600)
    #expect(codes(files([closed], credentials: "/etc/zonerelay/secrets")) == ["passed"])
  }

  @Test func `an open secret is a warning, and a store of another owner a failure`() {
    let open = file("/etc/key", mode: 0o644)
    let found = files([open], store: [file("/var/lib/zonerelay/relay.db", mode: 0o600)])
    #expect(codes(found) == ["secret_open", "store_closed"])
    #expect(found.last?.remedy == "as root: chown zonerelay: /var/lib/zonerelay/relay.db")
    let own = file("/var/lib/zonerelay/relay.db", mode: 0o600, owner: 999, above: 0o700)
    #expect(files([], store: [own]).first?.remedy?.contains("enter every directory above") == true)
  }

  @Test func `files that this user may not look at are skipped`() {
    let hidden = SeenFile(path: "/etc/key", permissions: nil, above: nil)
    #expect(codes(files([hidden])) == ["skipped"])
  }

  // MARK: The machine, the store and the output

  private let now = Instant(milliseconds: 1_795_000_000_000)

  @Test(arguments: [
    (Span.hours(2), false, "clock_ahead"), (.hours(2), true, "passed"),
    (.hours(1), false, "passed"), (.zero, false, "passed"), (.minutes(-1), false, "passed"),
    (.minutes(-2), true, "clock_behind"),
  ])
  func `the clock is compared with the relay's time`(ahead: Span, isRunning: Bool, code: String) {
    let evidence = ClockEvidence(
      wall: now, relayTime: now + Span(milliseconds: -ahead.milliseconds), isRunning: isRunning)
    #expect(codes([evidence.finding]) == [code])
  }

  @Test func `a clock without a store passes, and one that was never set fails`() {
    #expect(
      codes([ClockEvidence(wall: now, relayTime: nil, isRunning: false).finding]) == ["passed"])
    let unset = ClockEvidence(wall: Instant(milliseconds: 5), relayTime: nil, isRunning: false)
    #expect(codes([unset.finding]) == ["clock_unset"])
  }

  @Test func `a clock that is set meanwhile is found`() {
    #expect(ClockRun(wall: .seconds(5), boot: .seconds(4)).findings.isEmpty)
    #expect(codes(ClockRun(wall: .seconds(6), boot: .seconds(4)).findings) == ["clock_jumped"])
    #expect(codes(ClockRun(wall: .seconds(-3), boot: .seconds(4)).findings) == ["clock_jumped"])
  }

  @Test(arguments: [(60_000, 0), (61_000, 1), (-60_000, 0), (-61_000, 1)] as [(Int64, Int)])
  func `a server's clock may differ by a minute`(milliseconds: Int64, count: Int) {
    let time = ServerTime(
      server: "https://a.example", time: now, own: now + Span(milliseconds: milliseconds))
    #expect(time.findings.count == count)
    #expect(time.findings.allSatisfy { $0.code == .clockDiffers })
  }

  @Test func `too few files are a warning with the limit of the process`() {
    var evidence = LimitsEvidence(misfit: nil, most: 65_536, daemon: 77)
    #expect(codes([evidence.finding]) == ["passed"])
    evidence.misfit = "limits.connections do not fit; raise LimitNOFILE"
    let found = evidence.finding
    #expect(codes([found]) == ["open_files_too_few"] && found.result == .warning)
    #expect(found.subject == "open files of process 77")
    #expect(found.remedy == "raise LimitNOFILE")
  }

  @Test(arguments: [
    (ENOSPC, "disk_full"), (EDQUOT, "disk_full"), (EROFS, "disk_read_only"),
    (EACCES, "disk_unwritable"), (EIO, "disk_unwritable"),
  ])
  func `a disk that takes no bytes fails by its reason`(failure: Int32, code: String) {
    let trial = DiskTrial(free: 0, took: .zero, failure: failure)
    let found = DiskEvidence(directory: "/var/lib/zonerelay", trial: trial).findings
    #expect(codes(found) == [code] && found.first?.result == .failed)
  }

  @Test func `another user than the daemon's may be forbidden to write`() {
    var evidence = DiskEvidence(
      directory: "/", trial: DiskTrial(free: nil, took: .zero, failure: EACCES))
    evidence.isDaemonUser = false
    #expect(codes(evidence.findings) == ["skipped"])
    evidence.trial.failure = ENOSPC
    #expect(codes(evidence.findings) == ["disk_full"])
  }

  @Test(
    arguments: [
      (256 << 20, 0, ["passed"]), ((256 << 20) - 1, 0, ["disk_nearly_full"]),
      (1 << 40, 2_001, ["disk_slow"]), (0, 9_000, ["disk_nearly_full", "disk_slow"]),
    ] as [(Int64, Int, [String])])
  func `a disk with little room or slow writes is a warning`(
    free: Int64, milliseconds: Int, expected: [String]
  ) {
    let trial = DiskTrial(free: free, took: .milliseconds(milliseconds), failure: nil)
    #expect(codes(DiskEvidence(directory: "/", trial: trial).findings) == expected)
  }

  @Test(
    arguments: [
      (.free, false, "passed"), (.free, true, "port_not_served"), (.taken(.daemon), true, "passed"),
      (.taken(.systemd), false, "passed"),
      (.taken(.other(name: "nginx", pid: 7)), false, "port_taken"),
      (.taken(.unknown), false, "port_taken"), (.taken(.unknown), true, "skipped"),
      (.foreign, false, "address_foreign"), (.forbidden, false, "port_forbidden"),
      (.failed("odd"), false, "port_taken"),
      (.elsewhere(ListenAddress(host: "::1", port: 443), isInherited: true), true, "passed"),
      (
        .elsewhere(ListenAddress(host: "::1", port: 443), isInherited: false), true,
        "port_not_served"
      ),
    ] as [(PortEvidence.Outcome, Bool, String)])
  func `an address is free, the daemon's, or another program's`(
    outcome: PortEvidence.Outcome, isRunning: Bool, code: String
  ) {
    let evidence = PortEvidence(
      key: "server.listen", address: ListenAddress(host: "127.0.0.1", port: 8_460),
      outcome: outcome, isRunning: isRunning)
    #expect(codes([evidence.finding]) == [code])
  }

  @Test func `a store passes, is refused, or cannot be looked at`() {
    var store = StoreEvidence(directory: "/s", refusals: [], hasKey: false)
    #expect(codes(store.findings) == ["passed"], "there is none yet")
    store.isClosed = true
    #expect(codes(store.findings) == ["skipped"])
    store.isClosed = false
    store.unreadable = StoreError(.unreadable, "no")
    #expect(codes(store.findings) == ["skipped"])
    store.unusableKey = KeyFailure(path: "/s/keys/1.key", found: "3 characters", remedy: "put one")
    #expect(codes(store.findings) == ["token_key_unusable"])
    #expect(store.findings[0].remedy == FindingCode.tokenKeyUnusable.remedy)
    store.foreignKey = StoreError(.mixed, "another store's")
    store.refusals = [Problem(key: "store.directory", cause: "store_mixed", remedy: "restore")]
    #expect(codes(store.findings) == ["store_refused", "token_key_foreign"])
  }

  @Test func `a finding is one line with its sign, and its remedy below`() {
    let finding = Finding.found(.diskFull, "/var/lib/zonerelay", cause: "one\ntwo")
    let plain = finding.lines(Paint(isColourful: false))
    #expect(
      plain == [
        "  ✗ failed /var/lib/zonerelay: the disk of the store is full: one two",
        "      remedy: \(FindingCode.diskFull.remedy)",
      ])
    let passed = Finding.passed(.disk, "/", "it can be written", took: .milliseconds(12))
    #expect(passed.lines(Paint(isColourful: false)) == ["  ✓ ok /: it can be written (12 ms)"])
    let colourful = passed.lines(Paint(isColourful: true))[0]
    #expect(colourful.contains("✓") && !colourful.contains("ok"))
  }

  /// The words of a server could move the cursor, or hide other lines of the terminal.
  @Test func `control characters of a server's answer are not printed`() {
    let cause = "Apple answered 400 \u{1b}[2J\u{7}\u{9b}31mBad\r\u{7f}\u{202e}Topic"
    let finding = Finding.found(.apnsUnexpected, "a\tb", cause: cause, remedy: "do\u{1b}c\nit")
    let text = finding.lines(Paint(isColourful: false)).joined(separator: "\n")
    #expect(text.hasSuffix(": Apple answered 400 �[2J��31mBad ��Topic\n      remedy: do�c it"))
    #expect(text.hasPrefix("  ! warning a b: "))
  }

  /// The form of `doctor --json` is a contract.
  @Test func `the JSON has the findings, the first failure and whether all has passed`() throws {
    let findings = [
      Finding.passed(.disk, "/", "it can be written", took: .milliseconds(12)),
      .found(.clockAhead, "the clock", cause: "it shows"), .found(.diskFull, "/", cause: "full"),
      .skipped(.change, "a change", "no daemon"),
    ]
    let report = DoctorReport(version: "1.2.3", findings: findings)
    let json = try LooseJSON(body: [UInt8](JSONEncoder().encode(report)))
    #expect(json["version"].string == "1.2.3" && !json["passed"].bool)
    #expect(json["firstFailure"]["code"].string == "disk_full")
    let members = json["findings"].array.map {
      Set(($0.value as? [String: Any] ?? [:]).keys).sorted().joined(separator: " ")
    }
    #expect(
      members == [
        "group message result seconds subject",
        "cause code group message remedy result subject",
        "cause code group message remedy result subject", "group message result subject",
      ])
    let results = json["findings"].array.map { $0["result"].string }
    #expect(results == ["passed", "warning", "failed", "skipped"])
    let good = DoctorReport(version: "1", findings: Array(findings.prefix(2)))
    #expect(good.passed, "a warning is no failure")
  }

  // MARK: Servers and credentials

  @Test(arguments: [
    (ClientError.Code.noHost, "host_unknown"), (.refused, "server_unreachable"),
    (.timeout, "server_unreachable"), (.tls, "server_untrusted"),
  ])
  func `a server without a connection fails by the step that failed`(
    code: ClientError.Code, expected: String
  ) {
    let error = ClientError(code: code, message: "no", remedy: "do")
    let evidence = ServerEvidence(use: "apns t", place: "https://a", outcome: .failure(error))
    #expect(codes([evidence.finding]) == [expected])
  }

  /// The account server may accept the connection and then send no answer, or one that is too
  /// large.
  @Test(arguments: [
    (ClientError.Code.noHost, "host_unknown"), (.refused, "server_unreachable"),
    (.tls, "server_untrusted"), (.timeout, "keys_unusable"), (.connectionLost, "keys_unusable"),
    (.answerTooLarge, "keys_unusable"),
  ])
  func `an account server that is reached and gives no keys is not called unreachable`(
    code: ClientError.Code, expected: String
  ) {
    let error = ClientError(code: code, message: "no", remedy: "do")
    let keys = KeySetEvidence(use: "keys", place: "https://a", outcome: .failed(error))
    #expect(codes(keys.findings) == [expected] && keys.findings.first?.cause == "no")
  }

  @Test(
    arguments: [
      (400, "BadDeviceToken", "passed"), (200, nil, "passed"),
      (403, "InvalidProviderToken", "apns_token_refused"), (403, nil, "apns_token_refused"),
      (403, "ExpiredProviderToken", "apns_token_expired"),
      (429, "TooManyProviderTokenUpdates", "apns_token_updates"),
      (400, "TopicDisallowed", "apns_topic_refused"),
      (400, "DeviceTokenNotForTopic", "apns_topic_refused"),
      (403, "BadCertificate", "apns_certificate_refused"),
      (403, "BadCertificateEnvironment", "apns_certificate_refused"),
      (503, "ServiceUnavailable", "apns_unexpected"), (418, nil, "apns_unexpected"),
    ] as [(Int, String?, String)])
  func `Apple's answer to an invented device token shows what is wrong`(
    status: Int, reason: String?, code: String
  ) {
    let answer = ProbeAnswer(.answered(status: status, reason: reason))
    let evidence = CredentialEvidence(route: "apns t", outcome: .apns(answer))
    #expect(codes(evidence.findings) == [code])
  }

  @Test(
    arguments: [
      (.answered(status: 200, reason: nil), "passed"),
      (.answered(status: 403, reason: "PERMISSION_DENIED"), "fcm_project_refused"),
      (.answered(status: 404, reason: "NOT_FOUND"), "fcm_project_refused"),
      (.answered(status: 503, reason: "UNAVAILABLE"), "fcm_unexpected"),
      (.noToken("invalid_grant"), "fcm_account_refused"),
      (.unanswered("timeout"), "fcm_unanswered"),
    ] as [(ProbeAnswer.Outcome, String)])
  func `Google's answer to a message that is only validated shows what is wrong`(
    outcome: ProbeAnswer.Outcome, code: String
  ) {
    let evidence = CredentialEvidence(route: "fcm p", outcome: .fcm(ProbeAnswer(outcome)))
    #expect(codes(evidence.findings) == [code])
  }

  @Test(
    arguments: [
      (.keys(2), "passed"), (.unusable("it answered with status 404"), "keys_unusable"),
    ] as [(KeySetEvidence.Outcome, String)])
  func `an account server gives keys or something else`(
    outcome: KeySetEvidence.Outcome, code: String
  ) {
    var evidence = KeySetEvidence(use: "keys", place: "https://a", outcome: outcome)
    #expect(codes(evidence.findings) == [code])
    evidence.time = ServerTime(server: "https://a", time: now, own: now + .minutes(2))
    #expect(codes(evidence.findings) == [code, "clock_differs"])
  }

  @Test func `all providers are asked at the same time, and answer in order`() async {
    let begun = Mutex(0)
    let questions = (1...3).map { number -> Probes.Question in
      {
        begun.withLock { $0 += 1 }
        for _ in 0..<1_000_000 where begun.withLock({ $0 }) < 3 { await Task.yield() }
        return CredentialEvidence(
          route: "\(number) of \(begun.withLock { $0 })", outcome: .skipped("", remedy: nil))
      }
    }
    let answers = await Probes.answers(to: questions) { await $0() }
    #expect(answers.map(\.route) == ["1 of 3", "2 of 3", "3 of 3"])
  }

  @Test func `a public URL leads to a relay, elsewhere or nowhere`() {
    let outcomes: [PublicURLEvidence.Outcome] = [
      .relay(took: .milliseconds(3)), .other("404"), .other("no address"),
    ]
    let found = outcomes.map { PublicURLEvidence(url: "https://a", outcome: $0).finding }
    #expect(codes(found) == ["passed", "public_url_elsewhere", "public_url_elsewhere"])
    #expect(found.allSatisfy { $0.result != .failed }, "only devices can say whether it fails")
  }

  @Test(arguments: [(nil, "passed"), ("no", "origin_refused")] as [(String?, String)])
  func `an origin is allowed or refused`(refusal: String?, code: String) {
    let evidence = OriginEvidence(origin: "https://app", scope: "c development", refusal: refusal)
    #expect(codes([evidence.finding]) == [code] && evidence.finding.cause == refusal)
  }

  @Test func `each reason of the daemon is a finding, and a silent daemon is not a stopped one`() {
    var report = StatusReport(
      version: "1", pid: 7, uptime: 60, healthy: false, reasons: ["one; do this", "two"],
      store: .init(engine: "sqlite", bytes: 0, journalTail: 0, foldLag: 0), ledger: .init(),
      changes: .init(accepted: 0, duplicates: 0, rejected: 0), lanes: .init(), routes: [],
      fanouts: .init(running: 0, oldestAge: 0), oldestPendingAge: 0)
    var evidence = DaemonEvidence(socket: "/s", outcome: .success(report))
    #expect(codes(evidence.findings) == ["daemon_unhealthy", "daemon_unhealthy"])
    #expect(evidence.findings.first?.cause == "one; do this")
    report.reasons = []
    evidence.outcome = .success(report)
    #expect(codes(evidence.findings) == ["passed"] && evidence.report?.pid == 7)
    evidence.outcome = .failure(Failure(.notRunning, "no daemon"))
    #expect(codes(evidence.findings) == ["daemon_stopped"] && evidence.report == nil)
    evidence.outcome = .failure(Failure(.failed, "no answer"))
    #expect(codes(evidence.findings) == ["daemon_silent"])
  }

  @Test func `a wrong time of a certificate points to the clock`() {
    let error = ClientError(
      code: .tls, message: "SSL certificate problem: certificate is not yet valid", remedy: "do")
    let found = ServerEvidence.finding(of: error, "apns t")
    #expect(found.code == .serverUntrusted && found.remedy?.contains("timedatectl") == true)
  }

  /// The doctor connects to the daemon directly and not through a proxy, even if TLS requires the
  /// public host name.
  @Test func `the daemon is asked at its own address`() throws {
    var settings = Settings()
    settings.server.listen = ListenAddress(host: "0.0.0.0", port: 8_460)
    settings.server.publicURL = "https://relay.example.com"
    var request = try #require(DaemonAddress(settings)).request("GET", "/health/live")
    #expect(request.url == "http://127.0.0.1:8460/health/live" && request.connectTo == nil)
    settings.server.tls = .init(certificate: "/c.pem", key: "/k.pem")
    request = try #require(DaemonAddress(settings)).request("GET", "/health/live")
    #expect(request.url == "https://relay.example.com/health/live")
    #expect(request.connectTo == "127.0.0.1:8460" && request.trustRoots == "/c.pem")
    settings.server.listen = ListenAddress(host: "::", port: 8_460)
    settings.server.publicURL = nil
    request = try #require(DaemonAddress(settings)).request("GET", "/")
    #expect(request.url == "https://[::1]:8460/" && request.connectTo == "[::1]:8460")
    settings.server.listen.port = 0
    #expect(DaemonAddress(settings) == nil)
    settings.server.tls = nil
    let actual = ListenAddress(host: "0.0.0.0", port: 443)
    request = try #require(DaemonAddress(settings, listening: actual)).request("GET", "/")
    #expect(request.url == "http://127.0.0.1:443/", "a socket of systemd takes listen's place")
  }
}
