import Foundation
import Testing
import ZoneRelayClient

@testable import zonerelay_notes

/// How the sample's record server applies an edit to a note, and how the server's answer changes
/// the phone's pending edits.
@Suite struct EditTests {
  private static let zone = ZoneID(name: "Notes", owner: "_alice")
  private static let current = Note(name: "a", revision: 7, text: "milk")

  private func edit(_ text: String?, seen: Int?) -> Edit {
    Edit(zone: Self.zone, name: "a", text: text, seenRevision: seen)
  }

  @Test func `an edit of the version that the user saw counts`() {
    #expect(edit("eggs", seen: 7).text(over: Self.current) == "eggs")
    #expect(edit(nil, seen: 7).text(over: Self.current) == nil)
  }

  @Test func `an edit of a note that is gone creates it, and a deletion leaves it so`() {
    #expect(edit("eggs", seen: 7).text(over: nil) == "eggs")
    #expect(edit("eggs", seen: nil).text(over: nil) == "eggs")
    #expect(edit(nil, seen: 7).text(over: nil) == nil)
    #expect(edit("eggs", seen: 7).text(over: Note(name: "a", revision: 8)) == "eggs")
  }

  @Test func `both texts stay when the user saw another version`() {
    #expect(edit("eggs", seen: 6).text(over: Self.current) == "milk\neggs")
    #expect(edit("eggs", seen: nil).text(over: Self.current) == "milk\neggs")
    #expect(edit("milk", seen: 6).text(over: Self.current) == "milk")
  }

  @Test func `a deletion does not remove a version that the user has not seen`() {
    #expect(edit(nil, seen: 6).text(over: Self.current) == "milk")
  }

  @Test func `a later pending edit of the same note is no conflict with the answered one`() {
    let first = edit("eggs", seen: 7)
    let second = edit("eggs and bread", seen: 7)
    var other = edit("x", seen: 1)
    other.name = "b"
    var pending = [first, second, other]
    pending.remove(first, after: Note(name: "a", revision: 8, text: "eggs"))
    #expect(pending.map(\.id) == [second.id, other.id])
    #expect(pending.map(\.seenRevision) == [8, 1])
  }

  @Test func `a later pending edit stays a conflict when the answer has another text`() {
    let first = edit("eggs", seen: 6)
    var pending = [first, edit("eggs and bread", seen: 6)]
    pending.remove(first, after: Note(name: "a", revision: 8, text: "milk\neggs"))
    #expect(pending.map(\.seenRevision) == [6])
  }

  @Test func `a refused deletion leaves later edits as they are`() {
    let first = edit(nil, seen: 7)
    var pending = [first, edit("eggs", seen: 7)]
    pending.remove(first, after: nil)
    #expect(pending.map(\.seenRevision) == [7])
  }
}
