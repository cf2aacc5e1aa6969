import Foundation
import ZoneRelayClient

/// A note as the record server keeps it. Each change or deletion gives the note the next revision.
struct Note: Codable, Hashable, Sendable {
  var name: String, revision: Int
  var text: String?
  /// The tag by which the relay names this version; nil if deleted, as in `ZoneRecords.tags`.
  var tag: String? { text == nil ? nil : "\(revision)" }
  static let textBytesMax = 32 << 10
}

enum Question: Codable {
  /// `installation` names the phone at the relay. The relay wakes no phone for its own change.
  case save(Edit, installation: UUID)
  case fetch(names: [String], zone: ZoneID)
  /// So many notes fit into `RelayRequest.answerBytesMax`, even if JSON escapes each byte with six.
  static let namesMax = 50
}

/// A change that a user has made on a phone. A phone may send it several times, with the same id.
struct Edit: Codable, Hashable, Sendable {
  var zone: ZoneID, name: String, id = UUID()
  var text: String?  // nil deletes the note
  /// The revision that the user saw; nil: the user saw no note of this name.
  var seenRevision: Int?

  /// The note's text after this edit; nil: no note. The edit takes effect if the note is as the
  /// user saw it, or is gone. Otherwise both texts stay, the present one first; a deletion then has
  /// no effect, because the user has not seen what it would delete.
  func text(over current: Note?) -> String? {
    guard let present = current?.text, current?.revision != seenRevision else { return text }
    guard let text, text != present else { return present }
    return "\(present)\n\(text)"
  }

  /// Whether servers can keep the edit. Servers compare names by bytes, and Swift does not: so a
  /// name has one form, NFC. SQLite would cut a text at a NUL.
  var isStorable: Bool {
    let names = [name, zone.name, zone.owner], text = text?.filter { !"\n\t".contains($0) } ?? ""
    let scalars = (names + [text]).joined().unicodeScalars
    return scalars.allSatisfy { $0.properties.generalCategory != .control }
      && names.allSatisfy { 1...255 ~= $0.utf8.count }
      && names.allSatisfy { $0.utf8.elementsEqual($0.precomposedStringWithCanonicalMapping.utf8) }
  }
}

extension [Edit] {
  /// Removes an edit that the record server has answered with this note. Later edits of the note
  /// were made on top of this edit, and are no conflict if the note has this edit's text.
  mutating func remove(_ edit: Edit, after note: Note?) {
    removeAll { $0.id == edit.id }
    for place in indices where self[place].zone == edit.zone && self[place].name == edit.name {
      if let note, note.text == edit.text { self[place].seenRevision = note.revision }
    }
  }
}
