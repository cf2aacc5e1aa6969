import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import Testing
import ZoneRelayClient

@testable import zonerelay_notes

/// The sample's record server: how it stores an edit, and which events its outbox gives to the
/// poster.
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

  private func refusal(_ edit: Edit) async -> HTTPResponse.Status? {
    do {
      try await save(edit)
      return nil
    } catch {
      return (error as? HTTPError)?.status
    }
  }

  private func isBadRequest(_ edit: Edit) async -> Bool { await refusal(edit) == .badRequest }

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

  /// Swift counts the two Unicode forms of `é` as equal, but the database does not: one note would
  /// be stored as two. So the record server accepts only one form.
  @Test func `a name has one form`() async throws {
    #expect(await !isBadRequest(edit("x", seen: nil, name: "caf\u{e9}")))
    #expect(await isBadRequest(edit("x", seen: nil, name: "cafe\u{301}")))
    let zone = ZoneID(name: "cafe\u{301}", owner: "_alice")
    #expect(await isBadRequest(Edit(zone: zone, name: "a", text: "x")))
    #expect(try await store.waitingEvents(atMost: 9).count == 1)
  }

  /// SQLite would store the text up to the NUL.
  @Test func `a text with control characters is refused`() async throws {
    for text in ["a\0b", "a\u{1b}[2J", "\r", "\u{85}"] {
      #expect(await isBadRequest(edit(text, seen: nil)))
    }
    let text = "a\n\tb 👩‍👩‍👧 cafe\u{301}"
    #expect(try await save(edit(text, seen: nil))?.text == text)
  }

  @Test func `a user whose name looks like the owner's has no right`() async throws {
    let (owner, other) = ("_jos\u{e9}", "_jose\u{301}")
    let zone = ZoneID(name: "Notes", owner: owner)
    let edit = Edit(zone: zone, name: "a", text: "secret")
    await #expect(throws: HTTPError.self) {
      _ = try await store.save(edit, by: other, on: UUID())
    }
    _ = try await store.save(edit, by: owner, on: UUID())
    let error = await #expect(throws: HTTPError.self) {
      _ = try await store.fetch(["a"], in: zone, for: other)
    }
    #expect(error?.status == .forbidden)
    #expect(try await store.fetch(["a"], in: zone, for: owner).map(\.text) == ["secret"])
  }

  @Test func `a text that is too long is refused, also one of two that are joined`() async throws {
    let most = 32 << 10
    for (name, length) in [("a", most - 1), ("b", most)] {
      #expect(
        await refusal(edit(String(repeating: "t", count: length), seen: nil, name: name)) == nil)
    }
    let tooLong = edit(String(repeating: "t", count: most + 1), seen: nil, name: "c")
    #expect(await refusal(tooLong) == .contentTooLarge)
    // The user has not seen the stored note, so the record server would join the note's text and
    // the edit's text. The joined text is too long.
    let joined = edit("x", seen: nil, name: "b")
    #expect(await refusal(joined) == .contentTooLarge)
    #expect(await refusal(joined) == .contentTooLarge, "it is no edit that was taken")
    #expect(try await store.fetch(["a", "b", "c"], in: Self.zone, for: "_alice").count == 2)
    #expect(try await store.waitingEvents(atMost: 9).count == 2)
  }

  /// The answer to the edit was lost, and meanwhile another phone made the note longer.
  @Test func `an edit that was taken is not refused when it comes again`() async throws {
    let taken = edit("x", seen: nil)
    try await save(taken)
    try await save(edit(String(repeating: "t", count: 32 << 10), seen: 1))
    #expect(await refusal(taken) == nil)
  }

  @Test func `a user without a right learns so`() async throws {
    let error = await #expect(throws: HTTPError.self) {
      _ = try await store.save(edit("x", seen: nil), by: "_bob", on: UUID())
    }
    #expect(error?.status == .forbidden)
    #expect(error?.body == "Notes is not shared with _bob")
    try await store.share(Self.zone, with: "_bob")
    #expect(try await store.save(edit("x", seen: nil), by: "_bob", on: UUID())?.text == "x")
  }

  private func refused(_ code: String) -> Refusal {
    Refusal(index: 0, code: code, reason: "why")
  }

  @Test func `exactly the given events are marked as posted`() async throws {
    for name in ["a", "b", "c"] { try await save(edit("x", seen: nil, name: name)) }
    let events = try await store.waitingEvents(atMost: 9)
    try await store.mark([events[1]], [:])
    #expect(try await store.waitingEvents(atMost: 9).map(\.number) == [1, 3])
    try await store.mark([events[2]], [0: refused("BAD_REQUEST")])
    #expect(try await store.waitingEvents(atMost: 9).map(\.number) == [1])
  }

  @Test func `an event for which there is no room waits, and no other event`() async throws {
    for name in ["a", "b"] { try await save(edit("x", seen: nil, name: name)) }
    let events = try await store.waitingEvents(atMost: 9)
    try await store.mark(events, [0: refused("THROTTLED")])
    #expect(try await store.waitingEvents(atMost: 9).isEmpty)
    try await save(edit("x", seen: nil, name: "c"))
    #expect(try await store.waitingEvents(atMost: 9).map(\.number) == [3])
    try await pass()
    #expect(try await store.waitingEvents(atMost: 9).map(\.number) == [1, 3])
  }

  /// An old event after a newer one would tell the relay of an old state.
  @Test func `an event that waits is not posted after a newer one of its note`() async throws {
    for name in ["a", "b"] { try await save(edit("x", seen: nil, name: name)) }
    try await store.mark(
      try await store.waitingEvents(atMost: 9),
      [0: refused("THROTTLED"), 1: refused("THROTTLED")])
    try await save(edit(nil, seen: 1))
    try await store.mark(try await store.waitingEvents(atMost: 9), [:])
    try await pass()
    #expect(try await store.waitingEvents(atMost: 9).map(\.number) == [2])
  }

  @Test func `all events of a note wait, the newest too`() async throws {
    try await save(edit("x", seen: nil))
    try await save(edit("y", seen: 1))
    let events = try await store.waitingEvents(atMost: 9)
    try await store.mark(events, [0: refused("THROTTLED"), 1: refused("THROTTLED")])
    #expect(try await store.waitingEvents(atMost: 9).isEmpty)
    try await pass()
    #expect(try await store.waitingEvents(atMost: 9).map(\.number) == [1, 2])
  }

  /// Five minutes pass.
  private func pass() async throws {
    try await DatabaseQueue(path: directory.file("notes.sqlite").path).write {
      try $0.execute(sql: "UPDATE outbox SET notBefore = notBefore - 300")
    }
  }
}
