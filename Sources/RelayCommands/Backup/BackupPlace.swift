import Foundation

/// The directory that a backup goes to.
///
/// All files are made below `unfinished/` in this directory and moved up at the end, `relay.db`
/// last. So a backup that was interrupted, even by a kill, holds no `relay.db`, and the daemon does
/// not start from it.
struct BackupPlace {
  let directory: String
  /// The directory where the backup's files are made before they are moved up.
  var draft: String { "\(directory)/\(Self.unfinished)" }
  private let isNew: Bool
  private static let unfinished = "unfinished"

  /// Makes the directory, if it does not exist, and the draft's directory.
  ///
  /// - Parameter store: the store's own directory; a backup must not go there.
  /// - Throws: `Failure`; in that case nothing is left behind.
  init(_ directory: String, store: String) throws {
    let path = URL(fileURLWithPath: directory).standardizedFileURL.path
    self.directory = path
    let home = URL(fileURLWithPath: store).standardizedFileURL.resolvingSymlinksInPath().path
    let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    guard real != home, !real.hasPrefix(home + "/") else {
      throw Failure(
        .failed, "\(path) lies in the store's own directory",
        hint: "name a directory elsewhere, better on another disk")
    }
    isNew = mkdir(path, 0o700) == 0
    if !isNew, errno != EEXIST { throw Self.cannotMake(path) }
    if !isNew { try Self.checkEmpty(path) }
    guard mkdir(draft, 0o700) == 0 else {
      let failure = Self.cannotMake(draft)
      abandon()
      throw failure
    }
  }

  private static func checkEmpty(_ path: String) throws {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw Failure(
        .failed,
        access(path + "/.", F_OK) == 0 ? "\(path) cannot be read" : "\(path) is no directory",
        hint: "name a directory that is empty, or not there yet")
    }
    // A new file system contains the directory `lost+found`.
    let found = names.filter { $0 != "lost+found" }.sorted()
    guard let first = found.first else { return }
    guard found != [unfinished] else {
      throw Failure(
        .failed, "\(path) holds a backup that was cut short",
        hint: "remove \(path)/\(unfinished), and begin again")
    }
    throw Failure(
      .failed, "\(path) is not empty: it holds \(first)",
      hint: "each backup wants a directory of its own, empty or not there yet")
  }

  private static func cannotMake(_ path: String) -> Failure {
    let (code, parent) = (errno, URL(fileURLWithPath: path).deletingLastPathComponent().path)
    let hint =
      switch code {
      case ENOENT: "make \(parent) first: mkdir -p \(parent)"
      case EACCES, EPERM: "run it as root, or name a directory that this user may write"
      default: "name a directory on a disk that can be written"
      }
    return Failure(.failed, "\(path) cannot be made: \(reason(code))", hint: hint)
  }

  private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}

extension BackupPlace {
  /// Moves the parts into place durably.
  ///
  /// - Parameters:
  ///   - parts: names below the draft; the last one completes the backup.
  ///   - store: the store's directory. The files of a backup that root makes get the owner of this
  ///     directory, so that they can be copied back unchanged.
  func finish(_ parts: [String], ownerOf store: String) throws {
    if geteuid() == 0 { try give(toOwnerOf: store) }
    for directory in [draft, directory] {
      for part in directory == draft ? [] : parts {
        guard rename("\(draft)/\(part)", "\(directory)/\(part)") == 0 else {
          throw failed("move \(part) into place")
        }
      }
      try sync(directory)
    }
    guard rmdir(draft) == 0 else { throw failed("remove \(draft)") }
    try sync(directory)
    if isNew { try sync(URL(fileURLWithPath: directory).deletingLastPathComponent().path) }
  }

  private func give(toOwnerOf store: String) throws {
    let files = FileManager.default
    let owner = try files.attributesOfItem(
      atPath: URL(fileURLWithPath: store).resolvingSymlinksInPath().path)
    guard let user = owner[.ownerAccountID] as? Int, let group = owner[.groupOwnerAccountID] as? Int
    else { return }
    var paths = try files.subpathsOfDirectory(atPath: draft).map { "\(draft)/\($0)" }
    if isNew { paths.append(directory) }
    for path in paths where lchown(path, uid_t(user), gid_t(group)) != 0 {
      throw failed("give \(path) to the owner of \(store)")
    }
  }

  /// Removes what a failed backup has left in its draft, and the directory if this backup made it.
  func abandon() {
    // If the removal fails, the backup still looks incomplete, because `relay.db` is moved up last.
    try? FileManager.default.removeItem(atPath: draft)
    if isNew { rmdir(directory) }
  }

  private func sync(_ directory: String) throws {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failed("open \(directory)") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failed("make \(directory) durable") }
  }

  private func failed(_ what: String) -> Failure {
    Failure(
      .failed, "cannot \(what): \(Self.reason(errno))", hint: "look at the disk of \(directory)")
  }
}
