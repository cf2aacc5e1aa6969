import Foundation

/// The owner and the mode of a file or directory. Access lists, which may stand beside the mode,
/// are not looked at.
package struct FilePermissions: Hashable, Sendable {
  package var owner: Int
  package var group: Int
  package var mode: Int

  /// A right of one class of users, as the last three bits of a mode have it.
  package struct Rights: OptionSet, Hashable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static let read = Rights(rawValue: 4)
    package static let write = Rights(rawValue: 2)
    /// To enter a directory.
    package static let enter = Rights(rawValue: 1)
  }

  /// True if the mode gives the user all these rights. Root has them always.
  package func allow(_ user: SystemUser, _ rights: Rights) -> Bool {
    guard user.id != 0 else { return true }
    let shift = user.id == owner ? 6 : user.groups.contains(group) ? 3 : 0
    return Rights(rawValue: mode >> shift & 7).isSuperset(of: rights)
  }

  /// The permissions of the file that a path leads to; nil if there is none, or if this process may
  /// not look at it.
  package static func of(_ path: String) -> FilePermissions? {
    let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    // What cannot be looked at has no known permissions.
    let found = try? FileManager.default.attributesOfItem(atPath: real)
    guard let owner = found?[.ownerAccountID] as? Int,
      let group = found?[.groupOwnerAccountID] as? Int, let mode = found?[.posixPermissions] as? Int
    else { return nil }
    return FilePermissions(owner: owner, group: group, mode: mode)
  }

  /// The permissions of the directories above a file, from the file's own directory to the root;
  /// nil if one of them cannot be looked at.
  package static func above(_ path: String) -> [FilePermissions]? {
    var directory = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    var found: [FilePermissions] = []
    while directory.path != "/" {
      directory.deleteLastPathComponent()
      guard let permissions = of(directory.path) else { return nil }
      found.append(permissions)
    }
    return found
  }
}
