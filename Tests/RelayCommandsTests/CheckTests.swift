import Foundation
import Testing

@testable import RelayCommands

/// `check` examines the configured places as a start would use them, and refuses what `serve` would
/// refuse.
@Suite struct CheckTests {
  struct Case: CustomTestStringConvertible {
    var extra: String
    /// Files and directories that exist before the check; a directory's name ends with a slash.
    var made: [String] = []
    var key: String
    var cause: String
    var testDescription: String { "\(key): \(cause)" }
  }

  private static let store = "store: { directory: store }"

  static let cases: [Case] = [
    Case(extra: store, made: ["store/relay.db/"], key: "store.directory", cause: "Is a directory"),
    Case(
      extra: store, made: ["store/journal.db/"], key: "store.directory", cause: "Is a directory"),
    Case(extra: store, made: ["store/lock/"], key: "store.directory", cause: "Is a directory"),
    Case(
      extra: store, made: ["store/keys/1.key"], key: "store.directory",
      cause: "store/keys/1.key: 4 characters"),
    Case(
      extra: store, made: ["store/provider-tokens"], key: "store.directory",
      cause: "store/provider-tokens is no directory"),
    Case(
      extra: store, made: ["store/keys"], key: "store.directory",
      cause: "store/keys is no directory"),
    Case(
      extra: "store: { directory: words/store }", key: "store.directory",
      cause: "words is no directory"),
    Case(
      extra: "control: { socket: words/control.sock }", key: "control.socket",
      cause: "words is no directory"),
    Case(extra: "control: { socket: words }", key: "control.socket", cause: "words is no socket"),
    Case(
      extra: "control: { socket: place }", made: ["place/"], key: "control.socket",
      cause: "place is no socket"),
    Case(
      extra: "server: { listen: '[fe80::1%nowhere]:80' }", key: "server.listen",
      cause: "[fe80::1%nowhere]:80 cannot be resolved"),
    Case(
      extra: "control: { metrics: '[fe80::1%nowhere]:80' }", key: "control.metrics",
      cause: "[fe80::1%nowhere]:80 cannot be resolved"),
  ]

  @Test(arguments: cases) func `check names the problems that a start would refuse`(_ bad: Case)
    async throws
  {
    let world = try SettingsWorld()
    defer { world.remove() }
    for name in bad.made {
      let place = URL(fileURLWithPath: world.path(name))
      let directory = name.hasSuffix("/") ? place : place.deletingLastPathComponent()
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      if !name.hasSuffix("/") { try world.write("nope", to: name) }
    }
    try world.write(SettingsWorld.yaml(extra: bad.extra), to: "zonerelay.yaml")
    let said = await Said.by("check", "--config", world.path("zonerelay.yaml"))
    #expect(said.status == .badConfiguration)
    let errors = said.talk.split(separator: "\n").filter { $0.hasPrefix("zonerelay: error: ") }
    #expect(errors.count == 2, "\(said.talk)")
    #expect(errors.first?.hasPrefix("zonerelay: error: \(bad.key)") == true, "\(errors)")
    #expect(errors.first?.contains(bad.cause) == true, "\(errors)")
  }
}
