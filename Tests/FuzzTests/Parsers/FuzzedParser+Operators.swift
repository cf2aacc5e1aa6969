@testable import RelayCommands

/// A parser of text that operators write. It must report a typing error, and must not trap.
extension FuzzedParser {
  static let fromOperators: [FuzzedParser] = [
    FuzzedParser("configuration", texts: [configuration], words: configurationWords) {
      bytes throws(Defect) in
      guard let text = String(validating: bytes, as: UTF8.self) else { return }
      let reading = Settings.read(text: text, name: "zonerelay.yaml", directory: "/nonexistent")
      try Defect.unless(
        reading.settings != nil || !reading.problems.isEmpty,
        "a configuration was refused without a reason")
    }
  ]

  private static let configurationWords = [
    "- ", ": ", "\n", "  ", "&a ", "*a", "<<: *a", "!!int", "1e9999", "30d", "500ms",
    "9223372036854775807s",
    "4KiB", "-1", "[]", "{}", "off", "|", "${CREDENTIALS_DIRECTORY}",
  ]
  private static let configuration = """
    server: { listen: 127.0.0.1:8460, tokenKeys: [] }
    coalescing: { window: 500ms, windowMax: 2s }
    budget: { background: { max: 3, per: 1h, adapt: false }, alert: { max: 60, per: 1h } }
    wake: { deadline: 24h, rewake: [5m, 30m] }
    limits: { eventsPerRequest: 1000, requestBodyBytes: 4MiB }
    containers:
      - id: iCloud.com.example.notes
        environments:
          development:
            users: { sharedSecret: /nonexistent/secret }
            producers:
              - { name: records-1, bearer: /nonexistent/key }
            apns:
              - topic: com.example.notes
                key: { path: /nonexistent/key.p8, keyID: ABCDE12345, teamID: TEAM123456 }
    """
}
