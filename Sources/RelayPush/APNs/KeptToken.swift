import Foundation
import RelayCore

/// The provider token in use, kept in a file so that a restart goes on with it: Apple refuses a new
/// one that comes sooner than 20 minutes after another, however often the daemon starts.
///
/// The file holds the time of its first use and the token, one a line; only its owner may read it.
struct KeptToken: Sendable {
  var firstUse: Instant
  var text: String

  /// Nil if there is none, or if what is there is not one: then a new one is signed.
  static func read(_ path: String) -> KeptToken? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      return nil  // None was kept yet.
    }
    return KeptToken(contents: text)
  }

  init(firstUse: Instant, text: String) {
    self.firstUse = firstUse
    self.text = text
  }

  /// What a file says; nil if it is none of ours. Nothing but the token in it is signed: a time
  /// before 1970 is damage, and no age could be told from it.
  init?(contents: String) {
    let lines = contents.split(separator: "\n")
    guard lines.count == 2, let milliseconds = Int64(lines[0]), milliseconds >= 0 else {
      return nil
    }
    self.init(firstUse: Instant(milliseconds: milliseconds), text: String(lines[1]))
  }

  /// Replaces the file as a whole.
  ///
  /// - Throws: if the directory cannot be written; the token works all the same until a restart.
  func write(_ path: String) throws {
    let fresh = path + ".new"
    let contents = Data("\(firstUse.milliseconds)\n\(text)\n".utf8)
    guard
      FileManager.default.createFile(
        atPath: fresh, contents: contents, attributes: [.posixPermissions: 0o600]),
      rename(fresh, path) == 0
    else { throw CocoaError(.fileWriteUnknown) }
  }
}
