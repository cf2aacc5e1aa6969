import Foundation
import Testing

@testable import RelayCommands

/// Allowed places for a backup, and the remains of a failed one.
@Suite struct BackupPlaceTests {
  private static func failure(_ body: () throws -> BackupPlace) -> Failure? {
    do {
      _ = try body()
      return nil
    } catch {
      return error as? Failure
    }
  }

  private static func names(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  @Test func `an invalid backup directory is named with its remedy`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let files = FileManager.default
    for name in ["full", "cut", "store/below"] {
      try files.createDirectory(
        atPath: world.path(name), withIntermediateDirectories: true)
    }
    try world.write("mine", to: "full/notes.txt")
    try files.createDirectory(
      atPath: world.path("cut/unfinished"), withIntermediateDirectories: true)
    let cases = [
      ("full", "is not empty: it holds notes.txt", "a directory of its own"),
      ("cut", "cut short", "remove \(world.path("cut"))/unfinished"),
      ("words", "is no directory", "empty, or not there yet"),
      ("gone/backup", "No such file", "mkdir -p \(world.path("gone"))"),
      ("store/below", "in the store's own directory", "elsewhere"),
      ("store", "in the store's own directory", "elsewhere"),
    ]
    for (name, message, hint) in cases {
      let failure = Self.failure { try BackupPlace(world.path(name), store: world.path("store")) }
      #expect(failure?.message.contains(message) == true, "\(name): \(failure?.message ?? "none")")
      #expect(failure?.hint?.contains(hint) == true, "\(name): \(failure?.hint ?? "none")")
    }
    #expect(try Self.names(world.path("full")) == ["notes.txt"])
    #expect(!files.fileExists(atPath: world.path("gone")))
  }

  /// `backup` needs only the store's directory. It ignores all other problems of the configuration,
  /// because the operator who runs it may not have the daemon's secret files.
  @Test func `a backup reads the store's directory from the configuration`() async throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let yaml = SettingsWorld.yaml(extra: "store: { directory: \(world.path("store")) }")
    try world.write(yaml.replacing("notes-users", with: "gone"), to: "zonerelay.yaml")
    let said = await Said.by("backup", world.path("copy"), "-c", world.path("zonerelay.yaml"))
    #expect(said.status == .failed)
    #expect(said.talk.contains("there is no store in \(world.path("store"))"), "\(said.talk)")
    #expect(!FileManager.default.fileExists(atPath: world.path("copy")))
  }

  @Test func `a failed backup leaves no files behind`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let files = FileManager.default
    try files.createDirectory(atPath: world.path("there"), withIntermediateDirectories: true)
    for name in ["there", "made"] {
      let place = try BackupPlace(world.path(name), store: world.path("store"))
      try world.write("half", to: "\(name)/unfinished/relay.db")
      place.abandon()
    }
    #expect(try Self.names(world.path("there")).isEmpty)
    #expect(!files.fileExists(atPath: world.path("made")))
  }

  @Test func `a backup copies keys for their owner only and refuses missing keys`() throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let files = FileManager.default
    let keys = KeyCopies(source: world.path("keys"), target: world.path("copy"))
    #expect(throws: Failure.self) { try keys.run() }
    try files.createDirectory(atPath: world.path("keys"), withIntermediateDirectories: true)
    #expect(throws: Failure.self) { try keys.run() }
    try files.removeItem(atPath: world.path("copy"))
    try world.write(String(repeating: "ab", count: 32) + "\n", to: "keys/1.key")
    #expect(try keys.run() == 1)
    let copy = try files.attributesOfItem(atPath: world.path("copy/1.key"))
    #expect(copy[.posixPermissions] as? Int == 0o600)
    #expect(
      files.contentsEqual(atPath: world.path("keys/1.key"), andPath: world.path("copy/1.key")))
  }

  /// The daemon would not start with a restored store whose key is malformed.
  @Test(arguments: [("", "0 characters"), ("a key", "5 characters")])
  func `a backup refuses a malformed key file`(text: String, found: String) throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    try FileManager.default.createDirectory(
      atPath: world.path("keys"), withIntermediateDirectories: true)
    try world.write(text, to: "keys/1.key")
    let keys = KeyCopies(source: world.path("keys"), target: world.path("copy"))
    #expect {
      try keys.run()
    } throws: { error in
      let failure = Failure(error)
      return failure.message.contains("\(world.path("keys/1.key")): \(found)")
        && failure.hint?.contains("64 hexadecimal characters") == true
    }
  }
}
