/// A record zone: its name, and the record name of the user who owns it.
public struct ZoneID: Hashable, Sendable, Codable, Comparable {
  public var name: String
  public var owner: String

  public init(name: String, owner: String) {
    self.name = name
    self.owner = owner
  }

  public static func < (left: ZoneID, right: ZoneID) -> Bool {
    (left.owner, left.name) < (right.owner, right.name)
  }

  enum CodingKeys: String, CodingKey {
    case name = "zoneName"
    case owner = "ownerRecordName"
  }
}

/// One of the user's two databases that have change tokens.
public enum UserDatabase: String, Hashable, Sendable, Codable, CaseIterable {
  /// The user's own zones.
  case `private`
  /// Zones that others share with the user.
  case shared
}
