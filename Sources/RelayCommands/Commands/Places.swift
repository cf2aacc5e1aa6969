import Foundation
import NIOCore
import RelayCore
import RelayEngine
import RelayHTTP
import RelayKeys
import RelayStore

extension Settings {
  /// Makes the store's and the control socket's directories where their parents exist, so that a
  /// first start needs no other command. Only the last part of a path is made: a missing parent is
  /// more likely a mistyped path.
  ///
  /// - Throws: `Failure` naming the key.
  func makePlaces() throws {
    try Self.make(store.directory, mode: 0o700, key: "store.directory")
    let sockets = URL(fileURLWithPath: control.socket).deletingLastPathComponent().path
    try Self.make(sockets, mode: 0o755, key: "control.socket")
  }

  /// Makes the directory that keeps provider tokens across restarts. The caller must have opened
  /// the store before this call.
  ///
  /// - Throws: `Failure`, as `makePlaces` does.
  func makeProviderTokens() throws -> String {
    let directory = Self.providerTokens(in: store.directory)
    try Self.make(directory, mode: 0o700, key: "store.directory")
    return directory
  }

  static func providerTokens(in store: String) -> String { "\(store)/provider-tokens" }

  private static func make(_ directory: String, mode: mode_t, key: String) throws {
    guard mkdir(directory, mode) != 0 else { return }
    let code = errno
    guard code != EEXIST else {
      guard isDirectory(directory) == false else { return }
      throw Failure(
        .failed, "\(key): \(directory) is no directory", hint: "move it away, or correct the path")
    }
    let reason = String(cString: strerror(code))
    throw Failure(
      .failed, "\(key): the directory \(directory) cannot be made: \(reason)",
      hint: "make it, owned by the user that the daemon runs as, or correct the path")
  }

  /// True if `path` is a directory, false if it is another file. Returns nil if nothing exists
  /// there, or if the process may not look at it.
  static func isDirectory(_ path: String) -> Bool? {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      return nil
    }
    return isDirectory.boolValue
  }
}

extension SettingsReading {
  /// The problems of the places that the daemon will use, found before the daemon starts:
  /// directories that the daemon would fail to make or write, a store or token key that the daemon
  /// would refuse, a control socket that cannot be made, and addresses that cannot be resolved.
  var placeProblems: [Problem] {
    directoryProblems + storeFileProblems
      + [readOnlyProblem, keyProblem, socketProblem].compactMap(\.self) + addressProblems
  }

  /// The problems of the store's and the control socket's directories that the daemon would fail to
  /// make when it starts.
  var directoryProblems: [Problem] {
    let sockets = controlSocket.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
    return [("store.directory", storeDirectory), ("control.socket", sockets)]
      .compactMap { key, directory in directory.flatMap { Self.problem(of: $0, key: key) } }
  }

  /// The problem of a store on a file system that is mounted for reading only.
  private var readOnlyProblem: Problem? {
    guard let storeDirectory, access(storeDirectory, W_OK) != 0, errno == EROFS else { return nil }
    return Problem(
      key: "store.directory", cause: "the file system of \(storeDirectory) is read-only",
      remedy: "mount it for writing, or name another directory")
  }

  /// Why the daemon would refuse the files in the store's directory. The store's own key is not
  /// looked at.
  var storeFileProblems: [Problem] {
    guard let storeDirectory else { return [] }
    let places = [Settings.providerTokens(in: storeDirectory), "\(storeDirectory)/keys"]
    let obstacles = places.map { Self.obstacle(at: $0, key: "store.directory") }
    let refusal = SQLiteStore.refusal(in: storeDirectory).map(Self.problem)
    return (obstacles + [refusal]).compactMap(\.self)
  }

  /// The problem of a store whose own key cannot be read or belongs to another store.
  private var keyProblem: Problem? {
    guard let storeDirectory else { return nil }
    do throws(KeyFailure) {
      let check = try KeyRing.identityCheck(storeDirectory: storeDirectory)
      return check.flatMap { SQLiteStore.refusal(of: $0, in: storeDirectory) }.map(Self.problem)
    } catch {
      return Problem(
        key: "store.directory", cause: "\(error.path): \(error.found)", remedy: error.remedy)
    }
  }

  private static func problem(of refusal: StoreError) -> Problem {
    Problem(
      key: "store.directory", cause: refusal.message,
      remedy: "docs/troubleshooting.md explains \(refusal.code)")
  }

  /// Why the control socket cannot be made; nil if it can.
  var socketProblem: Problem? {
    controlSocket.flatMap { ControlSocket.refusal(of: $0) }.map { refusal in
      Problem(key: "control.socket", cause: refusal.description, remedy: refusal.remedy)
    }
  }

  /// The problems of addresses to listen on that cannot be resolved. If an address has a name, the
  /// name is looked up, perhaps over the network.
  var addressProblems: [Problem] {
    listens.sorted { $0.key < $1.key }.compactMap { key, address in
      Self.problem(of: address, key: key)
    }
  }

  /// The problem of a directory that the daemon would fail to make when it starts; nil if there is
  /// no such problem. The daemon makes only the last part of a path.
  private static func problem(of directory: String, key: String) -> Problem? {
    let parent = URL(fileURLWithPath: directory).deletingLastPathComponent().path
    switch (Settings.isDirectory(directory), Settings.isDirectory(parent)) {
    case (true, _), (nil, true): return nil
    case (false, _): return obstacle(at: directory, key: key)
    case (nil, false):
      return Problem(
        key: key, cause: "\(directory) cannot be made: \(parent) is no directory",
        remedy: "name a directory below another one")
    case (nil, nil):
      return Problem(
        key: key, cause: "\(directory) cannot be made: \(parent) does not exist",
        remedy: "make it (mkdir -p \(parent)), or correct the path")
    }
  }

  /// The problem of a path that names a file of another kind than a directory; nil if a directory
  /// or nothing exists there.
  private static func obstacle(at directory: String, key: String) -> Problem? {
    guard Settings.isDirectory(directory) == false else { return nil }
    return Problem(
      key: key, cause: "\(directory) is no directory", remedy: "move it away, or correct the path")
  }

  private static func problem(of address: ListenAddress, key: String) -> Problem? {
    do {
      _ = try SocketAddress.makeAddressResolvingHost(address.host, port: address.port)
      return nil
    } catch {
      return Problem(
        key: key, cause: "\(address) cannot be resolved",
        remedy: "write an address of this machine, or a name that it can look up")
    }
  }
}
