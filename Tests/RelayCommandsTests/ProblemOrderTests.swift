import Testing

@testable import RelayCommands

/// One reading reports all problems of a configuration, each with the line of its key.
@Suite struct ProblemOrderTests {
  /// All problems are reported at once, in the order of the file, each with its line.
  @Test func `all problems are reported at once, in the order of the file`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let reading = world.read(
      """
      log: { level: loud }
      limits: { pageEntries: 201 }
      server: { listn: x }
      """, environment: ["ZONERELAY_WAKE_RETRY": "1s", "ZONERELAY_STORE_ENGINE": "rocks"])
    #expect(
      reading.problems.map(\.key) == [
        "log.level", "limits.pageEntries", "server.listn", "store.engine", "containers",
        "ZONERELAY_WAKE_RETRY",
      ])
    #expect(reading.problems.map(\.line) == [1, 2, 3, nil, nil, nil])
    #expect(reading.problems[2].remedy == "did you mean 'listen'?")
    #expect(reading.problems[3].cause.hasPrefix("ZONERELAY_STORE_ENGINE:"))
  }

  /// A value in block form begins below its key, but the operator looks for the key.
  @Test func `a problem has the line of its key, also if the value begins below`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let reading = world.read(
      """
      wakes:
        window: 5s
      coalescing:
        window:
          fast
      containers:
        - id: a
          environments:
            staging:
              users: { sharedSecret: notes-users }
            production:
              users:
                issuer: i
              apiTokens:
                - blanks
              producers:
                - name: p
                  bearer: notes-producer
                - name: p
                  bearer: notes-producer
      """)
    let lines = Dictionary(grouping: reading.problems, by: \.key).mapValues {
      Set($0.map(\.line))
    }
    let place = "containers[0].environments"
    #expect(
      lines == [
        "wakes": [1], "coalescing.window": [4], "\(place).staging": [9],
        "\(place).production.users.sharedSecret": [12],
        "\(place).production.apiTokens[0]": [15], "\(place).production.producers": [16],
      ])
  }

  @Test func `all wrong settings of Web Push are reported together`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let web = "containers[0].environments.development.webpush"
    let route = "webpush: { subject: somebody, key: words, trustRoots: hollow.pem }"
    let indent = String(repeating: " ", count: 8)
    let reading = world.read(SettingsWorld.yaml(environment: indent + route))
    #expect(reading.problems.map(\.key) == ["subject", "key", "trustRoots"].map { "\(web).\($0)" })
  }
}
