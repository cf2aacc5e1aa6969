import Foundation
import ZoneRelayClient

/// A phone's copy of its zones, and the user's edits, in one file. Each change replaces the file.
actor NoteBook: ChangeSink {
  struct Content: Codable {
    /// What the relay's pages have named, and what the record server has answered.
    var records: [ZoneID: ZoneRecords] = [:], notes: [ZoneID: [String: Note]] = [:]
    /// Edits that the record server has not answered, oldest first, and those that it refuses.
    var pending: [Edit] = [], refused: [Edit] = []

    /// An answer may come after a newer one. The newer note stays.
    mutating func keep(_ answer: [Note], in zone: ZoneID) {
      for note in answer where note.revision > notes[zone]?[note.name]?.revision ?? 0 {
        notes[zone, default: [:]][note.name] = note
      }
    }
  }

  private(set) var content: Content
  private(set) var readsFromBeginning = 0
  private let file: StateFile, server: RecordServerClient
  private var editing: AsyncStream<Void>.Continuation?

  init(_ url: URL, server: RecordServerClient) throws {
    (file, self.server) = (StateFile(url), server)
    content = try file.load().map { try JSONDecoder().decode(Content.self, from: $0) } ?? Content()
  }

  /// The notes as the user sees them: the copy, with the pending edits on top.
  func texts(in zone: ZoneID) -> [String: String] {
    var texts = content.notes[zone, default: [:]].compactMapValues(\.text)
    for edit in content.pending where edit.zone == zone { texts[edit.name] = edit.text }
    return texts
  }

  func edit(_ name: String, in zone: ZoneID, to text: String?) throws {
    // The user sees the last pending edit: the new edit has the same seen revision as that edit.
    let before = content.pending.last { $0.zone == zone && $0.name == name }
    let seen = before.map(\.seenRevision) ?? content.notes[zone]?[name]?.revision
    try change { $0.pending.append(Edit(zone: zone, name: name, text: text, seenRevision: seen)) }
    editing?.yield()
  }

  func edits() -> AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) {
      editing = $0
      $0.yield()
    }
  }

  /// The record server has answered an edit. A refused edit stays in the file for the user.
  func answered(_ edit: Edit, with answer: [Note], isRefused: Bool = false) throws {
    try change {
      guard $0.pending.contains(where: { $0.id == edit.id }) else { return }  // sign-out or purge
      $0.keep(answer, in: edit.zone)
      $0.pending.remove(edit, after: answer.first)
      if isRefused { $0.refused.append(edit) }
    }
  }

  /// Changes nothing if the record server does not answer: the client then brings the page again.
  func apply(_ page: ZonePage) async throws {
    var records = content.records[page.zone] ?? ZoneRecords()
    records.apply(page)
    // `names` includes notes that `records` lacks: such a note was deleted, or is very new.
    let notes = content.notes[page.zone] ?? [:]
    let known = Set(records.tags.keys).union(notes.keys)
    let names = known.filter { records.tags[$0] != notes[$0]?.tag }
    var answer: [Note] = []
    for start in stride(from: 0, to: names.count, by: Question.namesMax) {
      let some = Array(names.dropFirst(start).prefix(Question.namesMax))
      answer += try await server.ask(.fetch(names: some, zone: page.zone))
    }
    try change {
      $0.records[page.zone] = records
      $0.keep(answer, in: page.zone)
    }
    if page.startsOver { readsFromBeginning += 1 }
  }

  func remove(_ zone: ZoneID, _ why: ZoneLoss) throws {
    try change {
      ($0.records[zone], $0.notes[zone]) = (nil, nil)
      // If the owner purged the zone, edits go too. Otherwise they stay, and pending ones are sent.
      guard why == .purged else { return }
      $0.pending.removeAll { $0.zone == zone }
      $0.refused.removeAll { $0.zone == zone }
    }
  }

  /// Edits from before the first sign-in belong to the user who signs in. Signing out removes edits
  /// that were not sent: a real app should ask its user first.
  func accountChanged(from: String?, to: String?) throws {
    if from != nil { try change { $0 = Content() } }
  }

  private func change(_ change: (inout Content) -> Void) throws {
    var new = content
    change(&new)
    try file.save(try JSONEncoder().encode(new))
    content = new
  }
}
