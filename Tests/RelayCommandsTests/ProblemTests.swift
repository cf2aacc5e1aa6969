import Foundation
import Testing

@testable import RelayCommands

/// Every kind of bad configuration is named by key, with cause and remedy.
@Suite struct ProblemTests {
  struct Case: CustomTestStringConvertible {
    var extra = ""
    var environment = ""
    var key: String
    var cause: String
    var testDescription: String { "\(key): \(cause)" }
  }

  private static let route = "containers[0].environments.development.apns[0]"
  private static let fcm = "containers[0].environments.development.fcm"
  private static let web = "containers[0].environments.development.webpush"
  private static let origin = "containers[0].environments.development.origins[0]"

  static let top: [Case] = [
    Case(extra: "sever: {}", key: "sever", cause: "is no known key"),
    Case(extra: "wake: { retyMax: 5m }", key: "wake.retyMax", cause: "is no known key"),
    Case(extra: "server: 7", key: "server", cause: "not keys with values"),
    Case(extra: "server: { listen: [a] }", key: "server.listen", cause: "is a list"),
    Case(extra: "server: { listen: 8460 }", key: "server.listen", cause: "no address"),
    Case(extra: "server: { listen: 'a:70000' }", key: "server.listen", cause: "no address"),
    Case(extra: "server: { publicURL: relay }", key: "server.publicURL", cause: "no URL"),
    Case(extra: "server: { tokenKeys: nope }", key: "server.tokenKeys", cause: "not a list"),
    Case(extra: "server: { tokenKeys: [words] }", key: "server.tokenKeys[0]", cause: "64 hex"),
    Case(
      extra: "server: { tls: { certificate: words, key: words } }",
      key: "server.tls.certificate", cause: "holds no certificate"),
    Case(
      extra: "server: { tls: { certificate: certificate.pem } }", key: "server.tls.key",
      cause: "is missing"),
    Case(
      extra: "server: { tls: { certificate: certificate.pem, key: other-key } }",
      key: "server.tls", cause: "for TLS"),
    Case(
      extra: "server: { tls: { certificate: hollow.pem, key: notes-apns-key } }",
      key: "server.tls", cause: "for TLS"),
    Case(
      extra: "server: { listen: 'h:1' }\ncontrol: { metrics: 'h:1' }", key: "control.metrics",
      cause: "is the address of server.listen"),
    Case(
      extra: "control: { socket: /\(String(repeating: "s", count: 107)) }",
      key: "control.socket", cause: "longer than 107 bytes"),
    Case(extra: "store: { engine: postgresql }", key: "store.engine", cause: "not supported"),
    Case(extra: "store: { engine: rocks }", key: "store.engine", cause: "no engine"),
    Case(extra: "store: { directory: words }", key: "store.directory", cause: "is a file"),
    Case(extra: "coalescing: { window: fast }", key: "coalescing.window", cause: "no duration"),
    Case(extra: "coalescing: { window: 5 }", key: "coalescing.window", cause: "no duration"),
    Case(extra: "coalescing: { window: 1d }", key: "coalescing.window", cause: "out of range"),
    Case(extra: "coalescing: { window: 5s }", key: "coalescing.windowMax", cause: "shorter"),
    Case(extra: "smearing: { rate: 0 }", key: "smearing.rate", cause: "out of range"),
    Case(
      extra: "limits: { fanOuts: 99999999999999999999 }", key: "limits.fanOuts",
      cause: "out of range"),
    Case(
      extra: "smearing: { rate: 99999999999999999999 }", key: "smearing.rate",
      cause: "out of range"),
    Case(extra: "smearing: { rate: fast }", key: "smearing.rate", cause: "is no rate"),
    Case(extra: "smearing: { above: 0 }", key: "smearing.above", cause: "out of range"),
    Case(extra: "smearing: { longest: 2d }", key: "smearing.longest", cause: "out of range"),
    Case(extra: "smearing: { longest: 1s }", key: "smearing.longest", cause: "gather anyway"),
    Case(
      extra: "budget: { background: { max: 0 } }", key: "budget.background.max",
      cause: "out of range"),
    Case(
      extra: "budget: { background: { max: many } }", key: "budget.background.max",
      cause: "no whole number"),
    Case(
      extra: "budget: { background: { max: 20, adapt: true } }", key: "budget.background.adapt",
      cause: "learns between 1 and 12"),
    Case(
      extra: "budget: { background: { per: 2h, adapt: true } }", key: "budget.background.adapt",
      cause: "learns between 1 and 12"),
    Case(
      extra: "budget: { background: { adapt: maybe } }", key: "budget.background.adapt",
      cause: "neither true nor false"),
    Case(
      extra: "budget: { background: { mode: adaptive, max: 20 } }",
      key: "budget.background.mode", cause: "learns between 1 and 12"),
    Case(
      extra: "budget: { background: { mode: on } }", key: "budget.background.mode",
      cause: "is not known"),
    Case(
      extra: "budget: { background: { mode: fixed, adapt: true } }",
      key: "budget.background.adapt", cause: "contradicts mode"),
    Case(
      extra: "budget: { background: { mode: adaptive, adapt: false } }",
      key: "budget.background.adapt", cause: "contradicts mode"),
    Case(
      extra: "budget: { background: { max: 3, reserved: 3 } }",
      key: "budget.background.reserved", cause: "leaves nothing"),
    Case(
      extra: "budget: { background: { mode: off, reserved: 1 } }",
      key: "budget.background.reserved", cause: "no budget"),
    Case(extra: "wake: { retryFirst: 10m }", key: "wake.retryMax", cause: "shorter"),
    Case(
      extra: "wake: { deadline: 5s, attemptTimeout: 6s }", key: "wake.deadline", cause: "shorter"),
    Case(extra: "wake: { rewake: [99ms] }", key: "wake.rewake[0]", cause: "out of range"),
    Case(
      extra: "budget: { background: { max: 1000001 } }", key: "budget.background.max",
      cause: "out of range"),
    Case(
      extra: "retention: { feedback: 999ms }", key: "retention.feedback", cause: "out of range"),
    Case(extra: "wake: { rewake: [] }", key: "wake.rewake", cause: "growing gaps"),
    Case(extra: "wake: { rewake: [2m, 1m] }", key: "wake.rewake", cause: "growing gaps"),
    Case(extra: "wake: { rewake: [2m, x] }", key: "wake.rewake[1]", cause: "no duration"),
    Case(extra: "limits: { payloadBytes: 8KiB }", key: "limits.payloadBytes", cause: "range"),
    Case(extra: "limits: { payloadBytes: 4KB }", key: "limits.payloadBytes", cause: "no size"),
    Case(extra: "limits: { inboxChanges: 10 }", key: "limits.inboxChanges", cause: "less than"),
    Case(
      extra: "limits: { requestBodyBytesInFlight: 1MiB }",
      key: "limits.requestBodyBytesInFlight", cause: "less than"),
    Case(extra: "log: { level: loud }", key: "log.level", cause: "is not known"),
  ]

  static let inside: [Case] = [
    Case(
      environment: "apnss: []", key: "containers[0].environments.development.apnss",
      cause: "is no known key"),
    Case(environment: "fcm: {}", key: "\(fcm).serviceAccount", cause: "is missing"),
    Case(
      environment: "fcm: { serviceAccount: gone }", key: "\(fcm).serviceAccount",
      cause: "cannot be read: No such file"),
    Case(
      environment: "fcm: { serviceAccount: words }", key: "\(fcm).serviceAccount",
      cause: "no key file"),
    Case(
      environment: "fcm: { serviceAccount: /dev/zero }", key: "\(fcm).serviceAccount",
      cause: "/dev/zero is not a file"),
    Case(
      environment: "apiTokens: [/dev/null]",
      key: "containers[0].environments.development.apiTokens[0]",
      cause: "/dev/null is not a file"),
    Case(
      environment: "fcm: { serviceAccount: words, project: 'a b' }", key: "\(fcm).project",
      cause: "not such a name"),
    Case(
      environment: "fcm: { serviceAccount: words, endpoint: 'http://h' }", key: "\(fcm).endpoint",
      cause: "no URL"),
    Case(environment: "webpush: { key: vapid-key }", key: "\(web).subject", cause: "is missing"),
    Case(environment: "webpush: { subject: 'mailto:a@b' }", key: "\(web).key", cause: "is missing"),
    Case(
      environment: "webpush: { subject: somebody, key: vapid-key }", key: "\(web).subject",
      cause: "no contact"),
    Case(
      environment: "webpush: { subject: 'mailto:a@b', key: words }", key: "\(web).key",
      cause: "no P-256 private key"),
    Case(
      environment: "webpush: { subject: 'mailto:a@b', key: gone }", key: "\(web).key",
      cause: "cannot be read: No such file"),
    Case(
      environment: "webpush: { subject: 'mailto:a@b', key: vapid-key, trustRoots: hollow.pem }",
      key: "\(web).trustRoots", cause: "cannot be read"),
    Case(
      environment: "webpush: { subject: 'mailto:a@b', key: vapid-key, allowPrivateAddresses: 1 }",
      key: "\(web).allowPrivateAddresses", cause: "neither true nor false"),
    Case(
      environment: "apiTokens: [blanks]",
      key: "containers[0].environments.development.apiTokens[0]", cause: "a blank"),
    Case(environment: "origins: ['*']", key: origin, cause: "'*' names no origin"),
    Case(environment: "origins: ['null']", key: origin, cause: "'null' names no origin"),
    Case(environment: "origins: [app.example.com]", key: origin, cause: "begin with https://"),
    Case(environment: "origins: ['ftp://a.example']", key: origin, cause: "begin with https://"),
    Case(environment: "origins: ['https://a.example/']", key: origin, cause: "has more than"),
    Case(environment: "origins: ['https://u@a.example']", key: origin, cause: "has more than"),
    Case(environment: "origins: ['https://']", key: origin, cause: "names no host"),
    Case(environment: "origins: ['https://App.example']", key: origin, cause: "lower case"),
    Case(environment: "origins: ['https://a..example']", key: origin, cause: "names no host"),
    Case(environment: "origins: ['https://a.example:443']", key: origin, cause: "has a port"),
    Case(environment: "origins: ['https://a.example:0']", key: origin, cause: "has a port"),
    Case(environment: "origins: ['https://a.example:99999']", key: origin, cause: "has a port"),
    Case(environment: "origins: ['http://a.example']", key: origin, cause: "is not encrypted"),
    Case(
      environment: "origins: ['https://a.example', 'https://a.example']",
      key: "containers[0].environments.development.origins", cause: "stands twice"),
    Case(environment: "apns: [{ topic: a }]", key: "\(route).key", cause: "is missing"),
    Case(
      environment: "apns: [{ topic: a/b, \(goodKey) }]", key: "\(route).topic",
      cause: "not such a name"),
    Case(
      environment: "apns: [{ topic: a, key: { path: words, keyID: A, teamID: TEAM123456 } }]",
      key: "\(route).key.path", cause: "no P-256 private key"),
    Case(
      environment: "apns: [{ topic: a, key: { path: notes-apns-key, keyID: A, teamID: B } }]",
      key: "\(route).key.keyID", cause: "not such a name"),
    Case(
      environment: "apns: [{ topic: a, key: { path: gone, keyID: A, teamID: TEAM123456 } }]",
      key: "\(route).key.path", cause: "cannot be read: No such file"),
    Case(
      environment:
        "apns: [{ topic: a, \(goodKey), certificate: { path: certificate.pem, key: words } }]",
      key: "\(route).certificate", cause: "stands beside key"),
    Case(
      environment: "apns: [{ topic: a, \(goodKey), endpoint: 'http://h' }]",
      key: "\(route).endpoint", cause: "no URL"),
    Case(
      environment: "apns: [{ topic: a, \(goodKey), trustRoots: words }]",
      key: "\(route).trustRoots", cause: "no certificate"),
    Case(
      environment: "apns: [{ topic: a, \(goodKey), trustRoots: hollow.pem }]",
      key: "\(route).trustRoots", cause: "cannot be read"),
    Case(
      environment: "apns: [{ topic: a, certificate: { path: hollow.pem, key: notes-apns-key } }]",
      key: "\(route).certificate", cause: "cannot be read"),
    Case(
      environment: "apns: [{ topic: a, certificate: { path: certificate.pem, key: other-key } }]",
      key: "\(route).certificate.key", cause: "is not the key of the certificate"),
    Case(
      environment: "apns: [{ topic: a, \(goodKey), otherEndpoint: 'http://h' }]",
      key: "\(route).otherEndpoint", cause: "no URL"),
    Case(
      environment: "apns: [{ topic: a, \(goodKey) }, { topic: a, \(goodKey) }]",
      key: "containers[0].environments.development.apns", cause: "a stands twice"),
  ]

  private static let goodKey =
    "key: { path: notes-apns-key, keyID: ABCDE12345, teamID: TEAM123456 }"

  @Test(arguments: top + inside) func `every problem is named by key, with cause and remedy`(
    _ bad: Case
  ) throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let indent = String(repeating: " ", count: 8)
    let reading = world.read(
      SettingsWorld.yaml(extra: bad.extra, environment: indent + bad.environment))
    #expect(reading.settings == nil)
    let problem = try #require(
      reading.problems.first { $0.key == bad.key }, "problems: \(reading.problems)")
    #expect(problem.cause.contains(bad.cause))
    #expect(!problem.remedy.isEmpty)
  }

  /// Operators look the code up in docs/troubleshooting.md.
  @Test(arguments: [
    ("webpush: { subject: somebody, key: vapid-key }", "push_subject_invalid"),
    ("webpush: { subject: 'mailto:a@b', key: words }", "push_provider_key_invalid"),
    ("fcm: { serviceAccount: words }", "push_service_account_invalid"),
    (
      "apns: [{ topic: a, certificate: { path: certificate.pem, key: other-key } }]",
      "push_certificate_key_invalid"
    ),
  ])
  func `a problem of a route begins with its code`(route: String, code: String) throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let indent = String(repeating: " ", count: 8)
    let reading = world.read(SettingsWorld.yaml(environment: indent + route))
    let causes = reading.problems.map(\.cause)
    #expect(causes.contains { $0.hasPrefix("\(code): ") }, "\(causes)")
  }

  struct Whole: CustomTestStringConvertible {
    var containers: String
    var key: String
    var cause: String
    var testDescription: String { "\(key): \(cause)" }
  }

  static let wholes: [Whole] = [
    Whole(containers: "", key: "containers", cause: "is missing"),
    Whole(containers: "containers: []", key: "containers", cause: "lists none"),
    Whole(
      containers: "containers: [{ id: a }]", key: "containers[0].environments", cause: "no env"),
    Whole(
      containers: "containers: [{ environments: { production: { users: \(users) } } }]",
      key: "containers[0].id", cause: "is missing"),
    Whole(
      containers: "containers: [{ id: a, environments: { staging: {} } }]",
      key: "containers[0].environments.staging", cause: "is no known key"),
    Whole(
      containers: """
        containers:
          - { id: a, environments: { production: { users: \(users) } } }
          - { id: a, environments: { production: { users: \(users) } } }
        """, key: "containers[1].id", cause: "stands twice"),
    Whole(
      containers: "containers: [{ id: a, environments: { production: { apns: [] } } }]",
      key: "containers[0].environments.production.users.sharedSecret", cause: "is missing"),
    Whole(
      containers: environment("users: { sharedSecret: short }"),
      key: "containers[0].environments.production.users.sharedSecret", cause: "holds 5 bytes"),
    Whole(
      containers: environment("users: \(users), producers: [{ name: p, bearer: short }]"),
      key: "containers[0].environments.production.producers[0].bearer", cause: "holds 5 bytes"),
    Whole(
      containers: environment("users: \(users), producers: [\(producer("p")), \(producer("q"))]"),
      key: "containers[0].environments.production.producers", cause: "same bearer key"),
    Whole(
      containers: environment("users: \(users), producers: [\(producer("p")), \(producer("p"))]"),
      key: "containers[0].environments.production.producers", cause: "the name p stands twice"),
    Whole(containers: "containers: [", key: "zonerelay.yaml", cause: "is no YAML"),
    Whole(containers: "log: {}\nlog: {}", key: "zonerelay.yaml", cause: "a key stands twice: log"),
  ]

  private static let users = "{ sharedSecret: notes-users }"
  private static func producer(_ name: String) -> String {
    "{ name: \(name), bearer: notes-producer }"
  }
  private static func environment(_ text: String) -> String {
    "containers: [{ id: a, environments: { production: { \(text) } } }]"
  }

  @Test(arguments: wholes)
  func `a problem of the whole file is named by key, with cause and remedy`(_ bad: Whole) throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let reading = world.read(bad.containers)
    let problem = try #require(
      reading.problems.first { $0.key == bad.key && $0.cause.contains(bad.cause) },
      "problems: \(reading.problems)")
    #expect(!problem.remedy.isEmpty)
  }

  @Test func `the remedy for an unknown key names each known key once`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let access = """
              apiTokens: []
              origins: []
              nonsense: 1
      """
    let reading = world.read(SettingsWorld.yaml(environment: access))
    let problem = try #require(reading.problems.first, "\(reading.problems)")
    let prefix = "remove it; keys here are "
    try #require(problem.remedy.hasPrefix(prefix), "\(problem)")
    let named = problem.remedy.dropFirst(prefix.count).split(separator: ", ")
    #expect(named.contains("origins") && Set(named).count == named.count, "\(problem.remedy)")
  }

  /// A bad certificate must not cause a second problem that calls `server.tls.key` an unknown key.
  @Test func `a bad certificate reports no problem of its key`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let yaml = "server: { tls: { certificate: words, key: notes-apns-key } }"
    let reading = world.read(SettingsWorld.yaml(extra: yaml))
    #expect(reading.problems.map(\.key) == ["server.tls.certificate"])
  }

  /// systemd's variable is expanded in paths, and reported if it is not set.
  @Test func `the variable CREDENTIALS_DIRECTORY is expanded in paths`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let yaml = "server: { tokenKeys: ['${CREDENTIALS_DIRECTORY}/token-key'] }"
    let full = SettingsWorld.yaml(extra: yaml)
    let without = world.read(full)
    #expect(without.problems.map(\.cause) == ["CREDENTIALS_DIRECTORY is not set"])
    let with = world.read(full, environment: ["CREDENTIALS_DIRECTORY": world.directory.path])
    #expect(with.problems == [])
    let other = world.read(SettingsWorld.yaml(extra: "store: { directory: '${HOME}/x' }"))
    #expect(other.problems.map(\.key) == ["store.directory"])
  }

  @Test func `an unreadable configuration file is a problem`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let gone = Settings.read(file: world.path("gone.yaml"))
    #expect(gone.problems.map(\.key) == [world.path("gone.yaml")])
    let directory = Settings.read(file: world.directory.path)
    #expect(directory.problems.first?.cause.contains("is not a file") == true)
    let marked = URL(fileURLWithPath: world.path("marked.yaml"))
    try Data("\u{feff}---\nsever: {}\n".utf8).write(to: marked)
    let read = Settings.read(file: marked.path)
    #expect(read.problems.contains { $0.key == "sever" }, "a byte order mark is no problem")
    let short = Settings.read(file: "file")
    #expect(short.problems.map(\.cause) == ["cannot be read: No such file or directory"])
  }
}
