import Foundation
import GRDB
import Testing
import ZoneRelayClient

@testable import zonerelay_notes

/// `Stage` is the program that runs the sample's relay, record server and phones. These tests
/// check what it does with a typed line, and which error it shows if it cannot start the relay.
@Suite struct StageTests {
  private let directory: TestDirectory

  init() throws { directory = try TestDirectory() }

  private func relay(_ binary: String) throws -> RelayProcess {
    try RelayProcess(URL(fileURLWithPath: binary), in: directory.url, port: 1)
  }

  private static let lines: [(line: String, name: String?, text: String?)] = [
    ("Shopping: milk", "Shopping", "milk"), ("Shopping:", "Shopping", nil),
    ("12:30 dentist", nil, "12:30 dentist"), ("http://example.com", nil, "http://example.com"),
    ("cafe\u{301}: x", "caf\u{e9}", "x"),
  ]

  @Test(arguments: lines)
  func `a name ends with a colon and a blank`(line: String, name: String?, text: String?)
    async throws
  {
    let edits = try await edits(line)
    #expect(edits.map(\.text) == [text])
    let written = try #require(edits.first?.name)
    #expect(name.map { written.utf8.elementsEqual($0.utf8) } ?? (Double(written) != nil))
  }

  @Test(arguments: ["", "  "])
  func `a line of blanks does nothing`(line: String) async throws {
    #expect(try await edits(line).isEmpty)
  }

  private func edits(_ line: String) async throws -> [Edit] {
    let relay = try relay("/none")
    let store = try NoteStore(directory.file("notes.sqlite"))
    let server = FakeServer { _ in try FakeServer.notes() }.client
    let phones = try (1...2).map {
      try Phone(directory.file("\($0)"), relay: relay.address, server: server) { _ in }
    }
    try await Stage(relay: relay, store: store, phones: phones).obey(line)
    return await phones[0].book.content.pending + phones[1].book.content.pending
  }

  @Test(arguments: ["/none/zonerelay", "/"])
  func `a relay that cannot be run is told with the remedy`(binary: String) async throws {
    let relay = try relay(binary)
    let error = await #expect(throws: StageError.self) { try await relay.start() }
    #expect(error?.description.contains("cannot run \(binary): build it") == true)
  }

  /// The key of a row must be the same in the next version of Swift.
  @Test func `the outbox names its subject in JSON`() async throws {
    let store = try NoteStore(directory.file("notes.sqlite"))
    _ = try await store.save(
      Edit(zone: FakeServer.zone, name: "a", text: "x"), by: "_alice", on: UUID())
    let subjects = try await store.waitingEvents(atMost: 9).map(\.subject)
    #expect(subjects == [#"["_alice","Notes","a",null]"#])
  }
}
