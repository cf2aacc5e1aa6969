import Foundation
import Synchronization
import Testing

@testable import ZoneRelayClient
@testable import zonerelay_notes

/// The sample's copy on the phone, when answers of the record server come late.
@Suite struct NoteBookTests {
  private static let zone = FakeServer.zone
  private let directory: TestDirectory

  init() throws { directory = try TestDirectory() }

  /// - Parameter answers: what the record server answers, one answer after the other.
  private func book(_ answers: [Note]...) throws -> (book: NoteBook, asked: AskedNames) {
    let asked = AskedNames(answers)
    let server = FakeServer { try asked.answer($0) }
    return (try NoteBook(directory.file("notes.json"), server: server.client), asked)
  }

  private func page(_ tags: [String: String], deleted: [String] = []) -> ZonePage {
    func record(_ name: String, _ tag: String?) -> ZonePage.Record {
      ZonePage.Record(name: name, type: "Note", changeTag: tag, modified: nil, own: false)
    }
    return ZonePage(
      zone: Self.zone, deleted: deleted.map { record($0, nil) },
      changed: tags.sorted { $0.key < $1.key }.map { record($0.key, $0.value) }, gap: false,
      startsOver: false, isLast: true)
  }

  /// The user edits a note, and the record server answers with `note`.
  private func edit(
    _ name: String, _ text: String?, in book: NoteBook, answered note: Note
  ) async throws {
    try await book.edit(name, in: Self.zone, to: text)
    let edit = try #require(await book.content.pending.last)
    try await book.answered(edit, with: [note])
  }

  @Test func `a late answer to an edit does not overwrite a newer note`() async throws {
    let (book, _) = try book([Note(name: "a", revision: 3, text: "new")])
    try await book.apply(page(["a": "3"]))
    try await edit("a", "old", in: book, answered: Note(name: "a", revision: 2, text: "old"))
    #expect(await book.texts(in: Self.zone) == ["a": "new"])
  }

  @Test func `a late answer to a page does not overwrite a newer note`() async throws {
    let (book, _) = try book([Note(name: "a", revision: 2, text: "old")])
    try await edit("a", "new", in: book, answered: Note(name: "a", revision: 3, text: "new"))
    try await book.apply(page(["a": "2"]))
    #expect(await book.texts(in: Self.zone) == ["a": "new"])
  }

  @Test func `a late answer does not bring a deleted note back`() async throws {
    let (book, _) = try book([Note(name: "a", revision: 2, text: "old")])
    try await edit("a", nil, in: book, answered: Note(name: "a", revision: 3))
    try await book.apply(page(["a": "2"]))
    #expect(await book.texts(in: Self.zone) == [:])
  }

  @Test func `the phone asks for each note whose tag differs`() async throws {
    let (book, asked) = try book(
      [Note(name: "a", revision: 1, text: "old")], [Note(name: "a", revision: 2, text: "new")], [])
    try await book.apply(page(["a": "2"]))
    try await book.apply(page(["b": "1"]))
    #expect(asked.names == [["a"], ["a", "b"]])
    #expect(await book.texts(in: Self.zone) == ["a": "new"])
  }

  /// A phone reads a bounded number of bytes of one answer, so it asks for few notes at once.
  @Test(arguments: [(49, [49]), (50, [50]), (51, [1, 50]), (120, [20, 50, 50])])
  func `names are asked for fifty at a time`(count: Int, asked counts: [Int]) async throws {
    let (book, asked) = try book()
    let names = (0..<count).map { "n\($0)" }
    try await book.apply(page(Dictionary(uniqueKeysWithValues: names.map { ($0, "1") })))
    #expect(asked.names.map(\.count).sorted() == counts)
    #expect(Set(asked.names.joined()) == Set(names))
  }

  @Test func `a page whose second answer does not come changes nothing`() async throws {
    let asked = Mutex(0)
    let server = FakeServer { _ in
      let count = asked.withLock { asked in
        asked += 1
        return asked
      }
      return count == 2
        ? RelayAnswer(status: 503)
        : try FakeServer.notes(Note(name: "n0", revision: 1, text: "x"))
    }
    let book = try NoteBook(directory.file("notes.json"), server: server.client)
    let tags = Dictionary(uniqueKeysWithValues: (0..<51).map { ("n\($0)", "1") })
    await #expect(throws: ServerFailure.self) { try await book.apply(page(tags)) }
    #expect(await book.content.records.isEmpty)
    #expect(await book.texts(in: Self.zone).isEmpty)
  }

  /// `purged` means that the owner has erased all data on purpose. Only then does the phone drop
  /// the edits.
  @Test(arguments: [ZoneLoss.deleted, .purged, .reset, .unseen])
  func `a zone that is gone keeps its edits, but not when it was purged`(
    why: ZoneLoss
  ) async throws {
    let (book, _) = try book([Note(name: "a", revision: 1, text: "x")])
    try await book.apply(page(["a": "1"]))
    try await book.edit("refused", in: Self.zone, to: "r")
    let refused = try #require(await book.content.pending.first)
    try await book.answered(refused, with: [], isRefused: true)
    try await book.edit("b", in: Self.zone, to: "mine")
    let pending = try #require(await book.content.pending.first)
    let other = ZoneID(name: "Other", owner: "_alice")
    try await book.edit("c", in: other, to: "stays")
    try await book.remove(Self.zone, why)
    #expect(await book.content.notes[Self.zone] == nil)
    #expect(await book.content.records[Self.zone] == nil)
    let isKept = why != .purged
    #expect(await book.content.pending.map(\.name) == (isKept ? ["b", "c"] : ["c"]))
    #expect(await book.content.refused.map(\.name) == (isKept ? ["refused"] : []))
    // After `purged`, a late answer to an edit of the zone does not restore the note.
    try await book.answered(pending, with: [Note(name: "b", revision: 1, text: "mine")])
    #expect(await book.texts(in: Self.zone) == (isKept ? ["b": "mine"] : [:]))
    #expect(await book.texts(in: other) == ["c": "stays"])
  }

  @Test func `a note that the relay names as deleted is asked for once and is gone`() async throws {
    let (book, asked) = try book(
      [Note(name: "a", revision: 1, text: "x")], [Note(name: "a", revision: 2)])
    try await book.apply(page(["a": "1"]))
    try await book.apply(page([:], deleted: ["a"]))
    try await book.apply(page([:], deleted: ["a"]))
    #expect(asked.names == [["a"], ["a"]])
    #expect(await book.texts(in: Self.zone) == [:])
  }

  /// Another user's note must not appear in the copy of the user who signs in.
  @Test func `an answer that comes after the sign-out is dropped`() async throws {
    let (book, _) = try book()
    try await book.edit("a", in: Self.zone, to: "x")
    let edit = try #require(await book.content.pending.first)
    try await book.accountChanged(from: "_alice", to: "_bob")
    try await book.answered(edit, with: [Note(name: "a", revision: 1, text: "x")])
    try await book.answered(edit, with: [], isRefused: true)
    #expect(await book.texts(in: Self.zone) == [:])
    #expect(await book.content.refused == [])
  }

  /// The user who deletes a note and writes it anew has not seen what other users wrote meanwhile.
  @Test func `an edit on top of a pending edit has seen what the pending one has`() async throws {
    let (book, _) = try book(
      [Note(name: "a", revision: 1, text: "old")], [Note(name: "a", revision: 2, text: "theirs")])
    try await book.apply(page(["a": "1"]))
    try await book.edit("a", in: Self.zone, to: nil)
    try await book.apply(page(["a": "2"]))
    try await book.edit("a", in: Self.zone, to: "mine")
    #expect(await book.content.pending.map(\.seenRevision) == [1, 1])
    let theirs = Note(name: "a", revision: 2, text: "theirs")
    #expect(await book.content.pending.map { $0.text(over: theirs) } == ["theirs", "theirs\nmine"])
  }

  @Test func `a refused edit stays in the file and the note is shown as it was`() async throws {
    let (book, _) = try book()
    try await book.edit("a", in: Self.zone, to: "x")
    let edit = try #require(await book.content.pending.first)
    try await book.answered(edit, with: [], isRefused: true)
    let server = FakeServer { _ in RelayAnswer(status: 500) }.client
    let reopened = try NoteBook(directory.file("notes.json"), server: server)
    #expect(await reopened.content.pending == [])
    #expect(await reopened.content.refused == [edit])
    #expect(await reopened.texts(in: Self.zone) == [:])
  }
}

/// What a phone has asked the record server for.
private final class AskedNames: Sendable {
  private let state: Mutex<(answers: ArraySlice<[Note]>, names: [[String]])>
  var names: [[String]] { state.withLock { $0.names } }

  init(_ answers: [[Note]]) { state = Mutex((answers[...], [])) }

  func answer(_ request: RelayRequest) throws -> RelayAnswer {
    let question = try JSONDecoder().decode(Question.self, from: request.body ?? Data())
    guard case .fetch(let names, _) = question else { return RelayAnswer(status: 400) }
    let notes = state.withLock { state in
      state.names.append(names.sorted())
      return state.answers.popFirst() ?? []
    }
    return RelayAnswer(status: 200, body: try JSONEncoder().encode(notes))
  }
}
