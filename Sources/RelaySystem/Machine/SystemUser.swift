import Foundation
import Glibc

/// A user of this machine, with the groups that decide what the user may read.
package struct SystemUser: Hashable, Sendable {
  package var id: Int
  package var groups: Set<Int>
  /// The user's name; the number as text where the machine knows no name.
  package var name: String
}

extension SystemUser {
  /// The user that this process runs as.
  package static var current: SystemUser {
    SystemUser(id: Int(geteuid()), primaryGroup: Int(getegid()))
  }

  /// The user with this id, as the machine's files of users and groups have it.
  ///
  /// - Parameter primaryGroup: the group of a user that those files do not name.
  package init(id: Int, primaryGroup: Int) {
    guard let entry = getpwuid(uid_t(id))?.pointee else {
      self.init(id: id, groups: [primaryGroup], name: "\(id)")
      return
    }
    var (count, groups) = (Int32(64), [gid_t](repeating: 0, count: 64))
    if getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) < 0 {
      // The call has set `count` to the number of groups.
      groups = [gid_t](repeating: 0, count: Int(count))
      getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count)
    }
    self.init(
      id: id, groups: Set(groups.prefix(Int(count)).map { Int($0) }),
      name: String(cString: entry.pw_name))
  }
}
