import RelaySystem

/// A file or directory, with what decides who may use it.
struct SeenFile: Hashable, Sendable {
  var path: String
  /// Nil if there is no such file, or if this process may not look at it.
  var permissions: FilePermissions?
  /// The permissions of the directories above the file; nil if one of them cannot be looked at.
  var above: [FilePermissions]?

  static func look(at path: String) -> SeenFile {
    SeenFile(
      path: path, permissions: FilePermissions.of(path), above: FilePermissions.above(path))
  }

  /// True if a user has these rights, and may enter every directory above; nil if it is unknown.
  func allows(_ user: SystemUser, _ rights: FilePermissions.Rights) -> Bool? {
    guard let permissions, let above else { return nil }
    return permissions.allow(user, rights) && above.allSatisfy { $0.allow(user, .enter) }
  }

  /// The mode, if users outside the file's owner and group may read or write it. A file below a
  /// directory that these users may not enter is safe.
  var modeOpenToAll: Int? {
    guard let mode = permissions?.mode, mode & 0o006 != 0, let above,
      above.allSatisfy({ $0.mode & 0o001 != 0 })
    else { return nil }
    return mode
  }
}
