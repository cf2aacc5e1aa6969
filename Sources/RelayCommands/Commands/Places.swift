import Foundation

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
