import Foundation
import Testing

/// The built daemon is checked against docs/openapi.yaml with generated requests, good and bad.
@Suite(.serialized) struct SchemathesisTests {
  private static let casesMin = 10_000
  /// The approximate number of cases for each operation.
  private static let examples = "450"

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let fixtures = root.appendingPathComponent("Tests/EndToEndTests/Fixtures")

  /// The daemon returns no 500, no answer that the schema does not allow, and no status that the
  /// schema does not name.
  @Test func `the daemon conforms to its OpenAPI file`() async throws {
    let tool = Self.root.appendingPathComponent(".build/schemathesis/bin/schemathesis")
    guard FileManager.default.isExecutableFile(atPath: tool.path) else {
      print("skipped: schemathesis: it is not installed; `make schemathesis` needs PyPI")
      return
    }
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    try await Self.fill(daemon)
    try Self.configure(in: workplace)

    // One process for each core: the threads of schemathesis' own pool would share one core.
    let runs = try [["--include-tag", "databases"], ["--exclude-tag", "databases"]].map {
      try Program(
        Self.arguments(workplace) + $0, in: workplace, name: "schemathesis", program: tool)
    }
    var cases = 0
    for run in runs {
      let ended = await run.wait(seconds: 900)
      #expect(ended.status == 0, "\(ended.output)\n\(ended.errors)")
      cases += Self.cases(ended.output)
    }
    print("schemathesis: \(cases) cases")
    #expect(cases >= Self.casesMin)

    let status = try await daemon.status()
    #expect(status["ledger"]["balanced"].bool == true)
    #expect(status["healthy"].bool == true)
    #expect(await daemon.stop().status == 0)
  }

  private static func arguments(_ workplace: Workplace) -> [String] {
    [
      "--config-file", workplace.file("schemathesis.toml").path, "run",
      root.appendingPathComponent("docs/openapi.yaml").path, "--url", workplace.api,
      "--phases", "examples,coverage,fuzzing", "--workers", "1", "--max-examples", examples,
      "--seed", "1", "--continue-on-failure", "--no-color", "--warnings", "off",
    ]
  }

  /// Creates data to read: zones of one user, records, and a subscription that fires.
  private static func fill(_ daemon: RunningDaemon) async throws {
    let phone = Phone(
      daemon.web, user: "_abc", in: daemon.workplace,
      pushToken: "aa01" + String(repeating: "0", count: 60))
    try await phone.register()
    try await phone.subscribe(toZone: "One")
    var producer = Producer(daemon.web, key: daemon.workplace.producerKey)
    let events = (0..<300).map {
      producer.event("created", record: "R\($0)", zone: "One", user: "_abc", client: phone.client)
    }
    let answer = try await producer.post(events)
    #expect(answer.status == 202)
  }

  private static func configure(in workplace: Workplace) throws {
    var text = try String(
      contentsOf: fixtures.appendingPathComponent("schemathesis.toml"), encoding: .utf8)
    let values = [
      "HOOKS": fixtures.appendingPathComponent("schemathesis_hooks.py").path,
      "CONTAINER": Workplace.container, "PRODUCER_KEY": workplace.producerKey,
      "USER_TOKEN": UserJWT.make(user: "_abc", secret: workplace.userSecret),
    ]
    for (name, value) in values {
      text = text.replacingOccurrences(of: "${\(name)}", with: value)
    }
    try text.write(
      to: workplace.file("schemathesis.toml"), atomically: true, encoding: .utf8)
  }

  /// The number of generated cases in the tool's summary.
  private static func cases(_ output: String) -> Int {
    output.firstMatch(of: /(\d+) generated/).flatMap { Int($0.output.1) } ?? 0
  }
}
