import Foundation
import Testing

@testable import RelayCommands

/// Ranges of values inside `containers`, and of secrets. Both ends are accepted, and one beyond
/// either end is refused with the key and a remedy.
@Suite struct ContainerRangeTests {
  private static let environment = "containers[0].environments.development"

  private func expect(
    _ yaml: String, in world: SettingsWorld, _ key: String, isTaken: Bool,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let problems = world.read(yaml).problems
    #expect(problems.map(\.key) == (isTaken ? [] : [key]), sourceLocation: sourceLocation)
    #expect(problems.allSatisfy { !$0.remedy.isEmpty }, sourceLocation: sourceLocation)
  }

  private func feedback(_ keys: [String], timeout: String = "10s") -> String {
    SettingsWorld.yaml(
      environment: "        feedback: { url: 'https://app.example.com/f', timeout: \(timeout), "
        + "keys: [\(keys.joined(separator: ", "))] }")
  }

  private func key(_ id: String) -> String { "{ id: \(id), path: hook }" }

  private func world(secretBytes: Int = 32) throws -> SettingsWorld {
    let world = try SettingsWorld()
    try world.write(String(repeating: "k", count: secretBytes), to: "hook")
    return world
  }

  @Test(arguments: [(count: 1, isTaken: true), (3, true), (4, true), (5, false)])
  func `a webhook has one to four keys`(count: Int, isTaken: Bool) throws {
    let world = try world()
    defer { world.remove() }
    expect(
      feedback((1...count).map { key("k\($0)") }), in: world,
      "\(Self.environment).feedback.keys", isTaken: isTaken)
  }

  @Test(arguments: [(bytes: 1, isTaken: true), (31, true), (32, true), (33, false)])
  func `a webhook key's id has 1 to 32 characters`(bytes: Int, isTaken: Bool) throws {
    let world = try world()
    defer { world.remove() }
    expect(
      feedback([key(String(repeating: "i", count: bytes))]), in: world,
      "\(Self.environment).feedback.keys[0].id", isTaken: isTaken)
  }

  @Test(arguments: [
    (bytes: 23, isTaken: false), (24, true), (25, true), (1_023, true), (1_024, true),
    (1_025, false),
  ])
  func `a webhook key has 24 to 1,024 bytes`(bytes: Int, isTaken: Bool) throws {
    let world = try world(secretBytes: bytes)
    defer { world.remove() }
    expect(
      feedback([key("k1")]), in: world, "\(Self.environment).feedback.keys[0].path",
      isTaken: isTaken)
  }

  @Test(arguments: [
    ("99ms", false), ("100ms", true), ("101ms", true), ("59999ms", true), ("1m", true),
    ("60001ms", false),
  ])
  func `a webhook's timeout is between 100 ms and one minute`(timeout: String, isTaken: Bool) throws
  {
    let world = try world()
    defer { world.remove() }
    expect(
      feedback([key("k1")], timeout: timeout), in: world,
      "\(Self.environment).feedback.timeout", isTaken: isTaken)
  }

  @Test(arguments: [
    (capacity: 0, isTaken: false), (1, true), (2, true), (999_999, true), (1_000_000, true),
    (1_000_001, false),
  ])
  func `a producer's fetchCapacity has a range`(capacity: Int, isTaken: Bool) throws {
    let world = try world()
    defer { world.remove() }
    let yaml = SettingsWorld.yaml().replacing(
      "bearer: notes-producer", with: "bearer: notes-producer, fetchCapacity: \(capacity)")
    expect(
      yaml, in: world, "\(Self.environment).producers[0].fetchCapacity", isTaken: isTaken)
  }

  @Test(arguments: [(bytes: 31, isTaken: false), (32, true), (33, true)])
  func `secrets have at least 32 bytes`(bytes: Int, isTaken: Bool) throws {
    let world = try world(secretBytes: bytes)
    defer { world.remove() }
    for (name, key) in [
      ("notes-users", "users.sharedSecret"), ("notes-producer", "producers[0].bearer"),
    ] {
      expect(
        SettingsWorld.yaml().replacing(name, with: "hook"), in: world,
        "\(Self.environment).\(key)", isTaken: isTaken)
    }
  }

  @Test(arguments: [(bytes: 106, isTaken: true), (107, true), (108, false)])
  func `a control socket's path has at most 107 bytes`(bytes: Int, isTaken: Bool) throws {
    let world = try world()
    defer { world.remove() }
    let path = "/" + String(repeating: "s", count: bytes - 1)
    expect(
      SettingsWorld.yaml(extra: "control: { socket: \(path) }"), in: world, "control.socket",
      isTaken: isTaken)
  }
}
