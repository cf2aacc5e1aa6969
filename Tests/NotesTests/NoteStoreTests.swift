import Foundation
import Hummingbird
import Testing
import ZoneRelayClient

@testable import zonerelay_notes

/// The sample's record server: what it stores of an edit and of its outbox.
@Suite struct NoteStoreTests {
  private static let zone = FakeServer.zone
  private let directory: TestDirectory, store: NoteStore

  init() throws {
    directory = try TestDirectory()
    store = try NoteStore(directory.file("notes.sqlite"))
  }

  @discardableResult
  private func save(_ edit: Edit) async throws -> Note? {
    try await store.save(edit, by: "_alice", on: UUID())
  }

  private func edit(_ text: String?, seen: Int?, name: String = "a") -> Edit {
    Edit(zone: Self.zone, name: name, text: text, seenRevision: seen)
  }

  private func isBadRequest(_ edit: Edit) async -> Bool {
    do {
      try await save(edit)
      return false
    } catch {
      return (error as? HTTPError)?.status == .badRequest
    }
  }

  @Test func `each change has the next revision, also a deletion`() async throws {
    #expect(try await save(edit("x", seen: nil)) == Note(name: "a", revision: 1, text: "x"))
    #expect(try await save(edit(nil, seen: 1)) == Note(name: "a", revision: 2))
    #expect(try await save(edit("y", seen: 2)) == Note(name: "a", revision: 3, text: "y"))
    let events = try await store.waitingEvents(atMost: 9).map(\.json)
    for (event, kind) in zip(events, ["created", "deleted", "created"]) {
      #expect(event.contains("zonerelay.record.\(kind)"))
    }
    #expect(events.count == 3)
  }

  @Test func `an edit that comes again changes nothing`() async throws {
    let first = edit("x", seen: nil)
    try await save(first)
    try await save(edit("y", seen: 1))
    #expect(try await save(first)?.text == "y")
    #expect(try await store.waitingEvents(atMost: 9).count == 2)
  }

  @Test func `an edit that had no effect has none when it comes again`() async throws {
    try await save(edit("milk", seen: nil))
    let same = edit("milk", seen: 1)
    try await save(same)
    try await save(edit("eggs", seen: 1))
    #expect(try await save(same)?.text == "eggs")
    #expect(try await store.waitingEvents(atMost: 9).count == 2)
  }

  /// The relay takes names of 1 to 255 bytes without control characters.
  @Test func `an edit with a name that the relay would refuse is refused`() async throws {
    #expect(await isBadRequest(edit("x", seen: nil, name: "")))
    for length in [1, 254, 255] {
      let name = String(repeating: "n", count: length)
      #expect(await !isBadRequest(edit("x", seen: nil, name: name)))
    }
    #expect(await isBadRequest(edit("x", seen: nil, name: String(repeating: "n", count: 256))))
    #expect(await isBadRequest(edit("x", seen: nil, name: String(repeating: "é", count: 128))))
    #expect(await isBadRequest(edit("x", seen: nil, name: "line\nbreak")))
    #expect(try await store.waitingEvents(atMost: 9).count == 3)
  }

  @Test func `exactly the given events are marked as posted`() async throws {
    for name in ["a", "b", "c"] { try await save(edit("x", seen: nil, name: name)) }
    let events = try await store.waitingEvents(atMost: 9)
    try await store.mark([events[1]], refusals: [:])
    #expect(try await store.waitingEvents(atMost: 9).map(\.number) == [1, 3])
  }
}
