import Foundation
import RelayCore

/// A provider token, kept in a file so that a restart goes on with it: Apple refuses a new one that
/// comes sooner than 20 minutes after another, however often the daemon starts.
///
/// The file holds the last two, the newest last: while the clock is wrong a token is signed that is
/// of no use, and the one before is gone back to when the clock has been set right. Of each there
/// are the time of its first use and the token, one a line; only its owner may read it.
struct PersistedProviderToken: Hashable, Sendable {
  var firstUse: Instant
  var text: String

  /// None if there is no file, or if what is there is none of ours: then a new one is signed.
  static func read(_ path: String) -> [PersistedProviderToken] {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      return []  // None was kept yet.
    }
    return all(in: text)
  }

  /// What a file says; none if it is damaged. Nothing but the token in it is signed: a time before
  /// 1970 is damage, and no age could be told from it.
  static func all(in contents: String) -> [PersistedProviderToken] {
    let lines = contents.split(separator: "\n")
    guard lines.count == 2 || lines.count == 4 else { return [] }
    var tokens: [PersistedProviderToken] = []
    for index in stride(from: 0, to: lines.count, by: 2) {
      guard let milliseconds = Int64(lines[index]), milliseconds >= 0 else { return [] }
      tokens.append(
        PersistedProviderToken(
          firstUse: Instant(milliseconds: milliseconds), text: String(lines[index + 1])))
    }
    return tokens
  }

  /// Replaces the file as a whole.
  ///
  /// - Throws: if the directory cannot be written; the tokens work all the same until a restart.
  static func write(_ tokens: [PersistedProviderToken], to path: String) throws {
    let fresh = path + ".new"
    let lines = tokens.map { "\($0.firstUse.milliseconds)\n\($0.text)\n" }
    guard
      FileManager.default.createFile(
        atPath: fresh, contents: Data(lines.joined().utf8), attributes: [.posixPermissions: 0o600]),
      rename(fresh, path) == 0
    else { throw CocoaError(.fileWriteUnknown) }
  }
}
