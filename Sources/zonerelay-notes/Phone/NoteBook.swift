import Foundation
import ZoneRelayClient

/// A phone's copy of its zones and its pending edits, in one file, which is replaced whole.
actor NoteBook: ChangeSink {
  /// `pending` are the edits that the record server has not answered, oldest first.
  private struct Content: Codable { var zones: [ZoneID: Zone] = [:], pending: [Edit] = [] }
  /// What the relay's pages have named, and what the record server has answered.
  private struct Zone: Codable { var records = ZoneRecords(), notes: [String: Note] = [:] }

  private var content: Content
  private let file: StateFile, server: RecordServerClient
  var pendingEdits: [Edit] { content.pending }

  init(_ url: URL, server: RecordServerClient) throws {
    (file, self.server) = (StateFile(url), server)
    content = try file.load().map { try JSONDecoder().decode(Content.self, from: $0) } ?? Content()
  }

  /// The notes as the user sees them: the copy, with the pending edits on top.
  func texts(in zone: ZoneID) -> [String: String] {
    var texts = (content.zones[zone]?.notes ?? [:]).mapValues(\.text)
    for edit in pendingEdits where edit.zone == zone { texts[edit.name] = edit.text }
    return texts
  }

  /// The user edits a note; nil deletes it.
  func edit(_ name: String, in zone: ZoneID, to text: String?) throws {
    let seen = content.zones[zone]?.notes[name]?.tag
    try change { $0.pending.append(Edit(zone: zone, name: name, text: text, seenTag: seen)) }
  }

  /// The record server has answered an edit; nil: the user has no such note.
  func saved(_ edit: Edit, as note: Note?) throws {
    try change {
      $0.zones[edit.zone, default: Zone()].notes[edit.name] = note
      $0.pending.remove(edit, after: note)
    }
  }

  /// Asks the record server before anything is changed: if it does not answer, this throws, and the
  /// client brings the page again.
  func apply(_ page: ZonePage) async throws {
    var zone = content.zones[page.zone] ?? Zone()
    zone.records.apply(page)
    // Notes that the relay does not name are gone, or so new that it has not heard of them.
    let unnamed = zone.notes.keys.filter { zone.records.tags[$0] == nil }
    let names = page.toFetch { zone.notes[$0]?.tag }.map(\.name) + unnamed
    let question = Question.Fetch(zone: page.zone, names: names)
    let found = names.isEmpty ? [] : try await server.ask("fetch", question)
    try change {
      var new = $0.zones[page.zone] ?? Zone()
      new.records = zone.records
      // What this phone has saved meanwhile is newer than the answer.
      for name in names where new.notes[name] == zone.notes[name] {
        new.notes[name] = found.first { $0.name == name }
      }
      $0.zones[page.zone] = new
    }
  }

  func remove(_ zone: ZoneID, _ why: ZoneLoss) throws { try change { $0.zones[zone] = nil } }

  /// Edits from before the first sign-in belong to the user who signs in.
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
