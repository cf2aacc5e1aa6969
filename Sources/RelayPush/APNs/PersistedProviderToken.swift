import Foundation
import RelayCore

/// A provider token, kept in a file so that a restarted daemon uses the token again: Apple refuses
/// a new token that comes sooner than 20 minutes after another, even if the daemon has restarted.
///
/// The file holds the last two tokens, the newest last: a token signed while the clock is wrong is
/// useless, and the token before it is used again when the clock has been set right. For each token
/// there is a line with the time of its first use and a line with the token. Only the file's owner
/// may read it.
struct PersistedProviderToken: Hashable, Sendable {
  var firstUse: Instant
  var text: String

  /// The tokens in the file at `path`; empty if there is no file or the file is damaged, so that a
  /// new token is signed.
  static func read(_ path: String) -> [PersistedProviderToken] {
    // Without a file no token was kept yet.
    (try? String(contentsOfFile: path, encoding: .utf8)).map(all(in:)) ?? []
  }

  /// The tokens of a file; empty if the file is damaged. A token's signature does not cover the
  /// time in the file, so the time is checked here: a time before 1970 counts as damage because no
  /// age can be computed from it.
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

  /// Replaces the whole file atomically. A file that root writes, as `zonerelay doctor` may, is
  /// given to the directory's owner: the daemon must be able to read it.
  ///
  /// - Throws: an error if the directory cannot be written; the tokens stay usable until a restart.
  static func write(_ tokens: [PersistedProviderToken], to path: String) throws {
    let fresh = path + ".new"
    let lines = tokens.map { "\($0.firstUse.milliseconds)\n\($0.text)\n" }
    guard
      FileManager.default.createFile(
        atPath: fresh, contents: Data(lines.joined().utf8), attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
    if geteuid() == 0 { try giveToOwner(fresh) }
    guard rename(fresh, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  /// Gives a file that root has made to the owner of its directory.
  private static func giveToOwner(_ path: String) throws {
    let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let owner = try FileManager.default.attributesOfItem(atPath: directory)
    guard let user = owner[.ownerAccountID] as? Int,
      let group = owner[.groupOwnerAccountID] as? Int,
      chown(path, uid_t(user), gid_t(group)) == 0
    else { throw CocoaError(.fileWriteUnknown) }
  }
}
