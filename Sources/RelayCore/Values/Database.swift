/// A database as a user sees it. The raw value is CloudKit's `dbs` on the wire (1 private, 2
/// public, 3 shared), and not the value of an enum of CloudKit's API.
package enum Database: UInt8, Hashable, Comparable, Sendable, CaseIterable {
  case `private` = 1
  case `public` = 2
  case shared = 3

  package init?(name: String) {
    switch Spelled(name) {
    case "private": self = .private
    case "public": self = .public
    case "shared": self = .shared
    default: return nil
    }
  }

  package var name: String {
    switch self {
    case .private: "private"
    case .public: "public"
    case .shared: "shared"
    }
  }

  package static func < (left: Database, right: Database) -> Bool {
    left.rawValue < right.rawValue
  }
}
