import Foundation
import RelayEngine
import RelayStore

extension Settings {
  /// Makes the store's and the control socket's directories where their parents exist, so that a
  /// first start needs no other command. Only the last part of a path is made: what lies above it
  /// is more likely a slip of the pen than a wish.
  ///
  /// - Throws: `Failure` naming the key.
  func makePlaces() throws {
    try Self.make(store.directory, mode: 0o700, key: "store.directory")
    let sockets = URL(fileURLWithPath: control.socket).deletingLastPathComponent().path
    try Self.make(sockets, mode: 0o755, key: "control.socket")
  }

  private static func make(_ directory: String, mode: mode_t, key: String) throws {
    guard mkdir(directory, mode) != 0, errno != EEXIST else { return }
    let reason = String(cString: strerror(errno))
    throw Failure(
      .failed, "\(key): the directory \(directory) cannot be made: \(reason)",
      hint: "make it, owned by the user that the daemon runs as, or correct the path")
  }
}

extension SettingsReading {
  /// What would keep a daemon from its directories, found before it starts: a parent that is
  /// missing, and a store whose files do not belong together. On a full disk they may not be
  /// readable now, and the daemon waits for room.
  var placeProblems: [Problem] {
    let sockets = controlSocket.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
    var problems = [("store.directory", storeDirectory), ("control.socket", sockets)]
      .compactMap { key, directory in directory.flatMap { Self.missingParent(of: $0, key: key) } }
    if let storeDirectory, let refusal = SQLiteStore.pairRefusal(in: storeDirectory),
      refusal.code != .unreadable, refusal.code != .full
    {
      problems.append(
        Problem(
          key: "store.directory", cause: refusal.message,
          remedy: "docs/troubleshooting.md explains \(refusal.code)"))
    }
    return problems
  }

  /// The daemon makes the last part of a path only.
  private static func missingParent(of directory: String, key: String) -> Problem? {
    let parent = URL(fileURLWithPath: directory).deletingLastPathComponent().path
    guard !FileManager.default.fileExists(atPath: parent) else { return nil }
    return Problem(
      key: key, cause: "\(directory) cannot be made: \(parent) does not exist",
      remedy: "make it (mkdir -p \(parent)), or correct the path")
  }
}
