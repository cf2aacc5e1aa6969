import Foundation
import Logging
import RelayCore
import RelayHTTP
import RelayEngine
import RelayPush
import Testing

@testable import RelayCommands

@Suite struct SettingsTests {
  /// The sample file loads unchanged, and its values are the defaults.
  @Test func `the sample file loads and holds the defaults`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let reading = Settings.read(
      file: root.appendingPathComponent("config/zonerelay.yaml").path,
      overrides: Overrides(environment: ["CREDENTIALS_DIRECTORY": world.directory.path]))
    #expect(reading.problems == [])
    let settings = try #require(reading.settings)
    let standard = Settings()
    #expect(settings.server.listen == standard.server.listen)
    #expect(settings.control.socket == standard.control.socket)
    #expect(settings.store.directory == standard.store.directory)
    #expect(settings.wake == standard.wake)
    #expect(settings.attemptTimeout == standard.attemptTimeout)
    #expect(settings.wake.courierGrace == standard.wake.courierGrace)
    #expect(settings.retention == standard.retention)
    #expect(settings.limits == standard.limits)
    #expect(settings.requests == standard.requests)
    #expect(settings.log == standard.log)
    #expect(settings.apps.map(\.scope.environment) == [.development])
  }

  /// Objects that survive the reading of the settings would leak at each reload.
  @Test func `reading the settings leaks no object`() {
    weak var left: Section?
    do {
      let diagnostics = Diagnostics(overrides: Overrides(), directory: "/")
      let root = Section(nil, place: "", diagnostics: diagnostics, canBeOverridden: true)
      left = root
      diagnostics.finish()
    }
    #expect(left == nil)
  }

  /// Each connection needs a file. The message names the limits that do not fit and the remedy.
  @Test func `limits that need more files than allowed are named`() {
    var settings = Settings()
    #expect(settings.misfit(files: 60_500) == nil)
    let misfit = settings.misfit(files: 20_000)
    #expect(misfit?.contains("limits.connections (60000)") == true)
    #expect(misfit?.contains("limits.courierConnections (50000) at most 19500 do") == true)
    #expect(misfit?.contains("LimitNOFILE of the unit") == true)
    #expect(misfit?.contains("to 60500, or lower limits.connections") == true)
    settings.requests.connections = 19_000
    #expect(settings.misfit(files: 20_000) == nil)
  }

  /// The settings take the values of the file and read the files that it names. Relative paths
  /// start at the directory of the configuration file.
  @Test func `the settings have the values of the file`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let reading = world.read(
      SettingsWorld.yaml(
        extra: """
          server:
            listen: "[::1]:9000"
            publicURL: https://relay.example.com/
            tokenKeys: [token-key]
            tls: { certificate: certificate.pem, key: notes-apns-key }
          control: { metrics: 127.0.0.1:9460 }
          log: { level: debug, format: json }
          coalescing: { window: 1s, windowMax: 3s }
          budget: { background: { max: 12, per: 2h } }
          smearing: { rate: 500, above: 2000, longest: 5m }
          wake: { rewake: [1m, 2m] }
          limits: { requestBodyBytes: 1MiB, pageEntries: 7 }
          """,
        environment: """
                  apns:
                    - topic: com.example.notes
                      key: { path: notes-apns-key, keyID: ABCDE12345, teamID: TEAM123456 }
                    - topic: com.example.other
                      certificate: { path: certificate.pem, key: notes-apns-key }
                      endpoint: https://127.0.0.1:8443
          """))
    #expect(reading.problems == [])
    let settings = try #require(reading.settings)
    #expect(settings.server.listen == ListenAddress(host: "::1", port: 9_000))
    #expect(settings.server.publicURL == "https://relay.example.com")
    #expect(settings.server.tokenKeys.map(\.bytes) == [Array(repeating: 0x0f, count: 32)])
    #expect(settings.server.tls?.certificate == world.path("certificate.pem"))
    #expect(settings.control.metrics == ListenAddress(host: "127.0.0.1", port: 9_460))
    #expect(settings.log == Settings.Log(level: .debug, format: .json))
    #expect(settings.wake.windowMax == .seconds(3))
    #expect(settings.wake.background == Budget.Rule(max: 12, per: .hours(2)))
    #expect(settings.wake.smearing.rate == 500 && settings.wake.smearing.above == 2_000)
    #expect(settings.wake.smearing.longest == .minutes(5))
    #expect(settings.wake.rewake == [.minutes(1), .minutes(2)])
    #expect(settings.requests.requestBodyBytes == 1 << 20)
    #expect(settings.limits.pageEntries == 7)
    let app = try #require(settings.apps.first)
    guard case .sharedSecret(let secret) = app.users.proof else {
      Issue.record("no shared secret")
      return
    }
    #expect(secret.text == "a shared secret of at least 32 bytes")
    #expect(app.producers.map(\.bearer?.text) == ["a-bearer-key-of-at-least-32-characters"])
    #expect(app.apns.map(\.endpoint.host) == ["api.sandbox.push.apple.com", "127.0.0.1"])
    #expect(app.apns.map(\.endpoint.port) == [443, 8_443])
    // The relay knows the endpoint of Apple's other environment. For a stand-in, only the operator
    // knows that endpoint.
    #expect(app.apns.map(\.otherEndpoint?.host) == ["api.push.apple.com", nil])
  }

  /// Flags override the environment, which overrides the file, which overrides the default.
  @Test func `flags override the environment, which overrides the file`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let yaml = SettingsWorld.yaml(
      extra: "control: { socket: /file.sock }\nbudget: { background: { max: 2 } }")
    let environment = [
      "ZONERELAY_CONTROL_SOCKET": "/environment.sock", "ZONERELAY_BUDGET_BACKGROUND_MAX": "7",
      "ZONERELAY_SERVER_LISTEN": "127.0.0.1:1", "ZONERELAY_ONLY": "not ours to judge",
    ]
    let reading = world.read(
      yaml, environment: environment, flags: ["control.socket": ("--control", "/flag.sock")])
    let settings = try #require(reading.settings)
    #expect(settings.control.socket == "/flag.sock")
    #expect(settings.wake.background.max == 7)
    #expect(settings.server.listen.port == 1)
    #expect(settings.store.directory == "/var/lib/zonerelay")
    let origins = Dictionary(uniqueKeysWithValues: reading.effective.map { ($0.key, $0.origin) })
    #expect(origins["control.socket"] == .override("--control"))
    #expect(origins["budget.background.max"] == .override("ZONERELAY_BUDGET_BACKGROUND_MAX"))
    #expect(origins["budget.background.per"] == .standard)
  }

  /// A section that the file leaves out can come from the environment as a whole.
  @Test func `environment variables can define a whole section`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let certificate = ["ZONERELAY_SERVER_TLS_CERTIFICATE": world.path("certificate.pem")]
    let key = ["ZONERELAY_SERVER_TLS_KEY": world.path("notes-apns-key")]
    let whole = world.read(
      SettingsWorld.yaml(), environment: certificate.merging(key) { first, _ in first })
    #expect(whole.problems == [])
    #expect(whole.settings?.server.tls?.certificate == world.path("certificate.pem"))
    #expect(whole.settings?.server.tls?.key == world.path("notes-apns-key"))
    let half = world.read(SettingsWorld.yaml(), environment: certificate)
    #expect(half.problems.map(\.key) == ["server.tls.key"])
    #expect(world.read(SettingsWorld.yaml()).settings?.server.tls == nil)
  }

  @Test func `smearing can be overridden, and a mistyped variable is named`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let good = world.read(SettingsWorld.yaml(), environment: ["ZONERELAY_SMEARING_RATE": "700"])
    #expect(good.settings?.wake.smearing.rate == 700)
    let bad = world.read(SettingsWorld.yaml(), environment: ["ZONERELAY_SMEARING_RAET": "700"])
    #expect(bad.settings == nil && bad.problems.map(\.key) == ["ZONERELAY_SMEARING_RAET"])
  }

  /// The file's value is right, so the problem must not lead the operator to the file's line.
  @Test func `a value of the environment that is out of range is named by its variable`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let yaml = SettingsWorld.yaml(extra: "trace: { size: 2MiB }")
    let problem = try #require(
      world.read(yaml, environment: ["ZONERELAY_TRACE_SIZE": "1"]).problems.first)
    #expect(problem.key == "trace.size" && problem.line == nil)
    #expect(problem.cause.hasPrefix("ZONERELAY_TRACE_SIZE: "), "\(problem.cause)")
    let file = world.read(SettingsWorld.yaml(extra: "trace: { size: 1 }")).problems.first
    #expect(file?.line == 1)
  }

  /// A misspelt section is reported. Kubernetes sets similar variables for a service called
  /// zonerelay, and those are ignored.
  @Test func `a variable of an unknown section is a problem`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let environment = [
      "ZONERELAY_SERVR_LISTEN": "127.0.0.1:1", "ZONERELAY_FOO_BAR": "x",
      "ZONERELAY_SERVICE_HOST": "10.0.0.1", "ZONERELAY_SERVICE_PORT_API": "8460",
      "ZONERELAY_PORT": "tcp://10.0.0.1:8460", "ZONERELAY_PORT_8460_TCP_ADDR": "10.0.0.1",
      "ZONERELAY_API_SERVICE_HOST": "10.0.0.2", "ZONERELAY_ONLY": "not ours to judge",
      "ZONERELAY_API_PORT_8460_TCP": "tcp://10.0.0.2:8460",
      // There is no key `server.port`, and Kubernetes sets no such variable, so this is a problem.
      "ZONERELAY_SERVER_PORT": "9000",
    ]
    let problems = world.read(SettingsWorld.yaml(), environment: environment).problems
    #expect(
      problems.map(\.key)
        == ["ZONERELAY_FOO_BAR", "ZONERELAY_SERVER_PORT", "ZONERELAY_SERVR_LISTEN"])
    #expect(problems.last?.remedy == "did you mean ZONERELAY_SERVER_LISTEN?")
    #expect(problems.first?.remedy.hasPrefix("unset it") == true)
  }

  /// The ends of the documented ranges are accepted.
  @Test func `very small and very large values are accepted`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let reading = world.read(
      SettingsWorld.yaml(
        extra: """
          budget: { background: { max: 1000000, reserved: 999999 }, alert: { max: 1000000 } }
          retention: { notifications: 1s, tombstones: 2s, feedback: 3s }
          wake: { deadline: 5s, rewake: [100ms] }
          """))
    #expect(reading.problems == [])
    let settings = try #require(reading.settings)
    #expect(settings.wake.background.max == 1_000_000 && settings.wake.reserved == 999_999)
    #expect(settings.wake.alert.max == 1_000_000)
    #expect(settings.attemptTimeout == .seconds(5), "an attempt fits into its series")
    #expect(settings.wake.rewake == [Span(milliseconds: 100)])
    #expect(settings.engineSlice.trimEvery == .seconds(1), "nothing is kept for long")
    let usual = try #require(world.read(SettingsWorld.yaml()).settings)
    #expect(usual.engineSlice.trimEvery == .minutes(1) && usual.attemptTimeout == .seconds(10))
  }

  /// No output contains a secret, however the settings are printed.
  @Test func `secrets are masked in all output`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let reading = world.read(SettingsWorld.yaml())
    let settings = try #require(reading.settings)
    var dumped = ""
    dump(settings, to: &dumped)
    let shown = "\(reading.effective)\(settings)\(String(reflecting: settings))\(dumped)"
    #expect(!shown.contains("a-bearer-key"))
    #expect(!shown.contains("a shared secret"))
    #expect(reading.effective.contains { $0.value.contains("masked") })
  }

  @Test func `an endpoint with an IPv6 address is a URL with brackets`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let yaml = """
              apns:
                - topic: com.example.notes
                  key: { path: notes-apns-key, keyID: ABCDE12345, teamID: TEAM123456 }
                  endpoint: https://[::1]:9443
      """
    let reading = world.read(SettingsWorld.yaml(environment: yaml))
    #expect(reading.problems == [])
    let endpoint = reading.settings?.apps.first?.apns.first?.endpoint
    #expect(endpoint?.host == "::1" && endpoint?.url == "https://[::1]:9443")
  }
}
