import Foundation
import Testing

/// docs/keys.md: the relay accepts the keys that the page makes, and the doctor finds no fault in
/// these keys.
@Suite(.serialized) struct KeysPageTests {
  @Test func `the page's keys are good for check, for the doctor and for a user`() async throws {
    let page = try Page("docs/keys.md")
    let (workplace, _) = try await Workplace.forDoctor(["--key-id", "ABCDE12345"])
    defer { workplace.remove() }
    let google = try await OtherStandin.start("fcm-standin", in: workplace)
    let secrets = workplace.file("etc/secrets")
    try await PageRun.run(
      page, in: workplace,
      before: """
        PATH="\(Program.binary.deletingLastPathComponent().path):$PATH"
        cp apns/AuthKey.p8 AuthKey_ABCDE12345.p8
        cp \(google.directory.path)/service-account.json .
        """, replacing: [("/etc/zonerelay/secrets", secrets.path)])
    let text = try #require(
      page.blocks.first { Page.value("file", of: $0) == "keys.yaml" }?.text)
    try Self.expectCredentials(of: page, named: text, in: secrets)

    try configure(workplace, text, google)
    let through = ["/usr/bin/env", "CREDENTIALS_DIRECTORY=\(secrets.path)"]
    let daemon = try await RunningDaemon.start(in: workplace, through: through)
    let run = try await DoctorRun.run(in: workplace, through: through)
    #expect(run.ended.status == 0 && run.troubles.isEmpty, "\(run.troubles) \(run.ended.errors)")
    #expect(run.lines.filter { $0.group == "credentials" }.count >= 3, "\(run.lines)")
    #expect(run.lines.contains { $0.group == "change" && $0.result == "passed" })

    let signed = try await Program(
      [
        workplace.file("sign_in.py").path, secrets.appendingPathComponent("notes-users").path, "_a",
      ],
      in: workplace, name: "python3", program: URL(fileURLWithPath: "/usr/bin/python3")
    ).wait()
    let answer = try await daemon.web.post(
      "/database/1/\(Workplace.container)/development/private/zones/list", [String: String](),
      token: signed.output.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(answer.status == 200, "\(signed.errors) \(answer.json)")

    try workplace.reconfigure(("keyID: ABCDE12345", "keyID: ZZZZZ12345"))
    let other = try await DoctorRun.run(in: workplace, through: through)
    #expect(other.ended.status == 1)
    #expect(other.troubles.contains { "\($0)".contains("InvalidProviderToken") })
    #expect(await daemon.stop().status == 0)
  }

  /// Checks that each file that the configuration names is a credential of the systemd unit, and
  /// that only the file's owner may read the file.
  private static func expectCredentials(
    of page: Page, named configuration: String, in secrets: URL
  ) throws {
    let unit = try #require(
      page.blocks.first { Page.value("file", of: $0) == "credentials.conf" }?.text)
    let names = Set(
      configuration.matches(of: #/\${CREDENTIALS_DIRECTORY}\/([\w.-]+)/#).map {
        String($0.output.1)
      })
    #expect(names.count == 7)
    for name in names.sorted() {
      #expect(unit.contains("LoadCredential=\(name):/etc/zonerelay/secrets/\(name)\n"), "\(name)")
      let file = secrets.appendingPathComponent(name).path
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
      #expect((mode as? Int ?? 0) & 0o077 == 0, "\(name)")
    }
    let mode = try FileManager.default.attributesOfItem(atPath: secrets.path)[.posixPermissions]
    #expect((mode as? Int ?? 0) & 0o777 == 0o700)
  }

  /// The page's configuration, with the stand-ins in the providers' place.
  private func configure(
    _ workplace: Workplace, _ text: String, _ google: OtherStandin
  ) throws {
    let team = "teamID: TEAM123456 }"
    let account = #"serviceAccount: "${CREDENTIALS_DIRECTORY}/notes-firebase" }"#
    let apps = text.replacing(
      team,
      with: """
        \(team)
                    endpoint: https://127.0.0.1:\(workplace.standinPort)
                    trustRoots: apns/ca.pem
        """
    ).replacing(
      account,
      with: account.dropLast(2) + ", endpoint: 'https://127.0.0.1:\(google.port)', trustRoots: "
        + "\(google.directory.path)/ca.pem }")
    let start = """
      server: { listen: 127.0.0.1:\(workplace.apiPort) }
      control: { socket: control.sock }
      store: { directory: store }
      coalescing: { window: 100ms }
      limits: { connections: 300, courierConnections: 100 }

      """
    try (start + apps).write(toFile: workplace.configPath, atomically: true, encoding: .utf8)
  }
}
