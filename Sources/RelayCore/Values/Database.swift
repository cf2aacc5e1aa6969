/// A database as a user sees it. The raw value is CloudKit's `dbs` on the wire (1 private, 2
/// public, 3 shared), and not the value of an enum of CloudKit's API.
package enum Database: UInt8, Hashable, Comparable, Sendable, Named {
  case `private` = 1
  case `public` = 2
  case shared = 3

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
