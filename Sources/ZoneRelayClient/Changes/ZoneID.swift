/// A record zone: its name, and the record name of the user who owns it.
///
/// Where an app names a zone, the owner may be `__defaultOwner__` (CloudKit's
/// `CKCurrentUserDefaultName`) or `_defaultOwner`: both stand for the signed-in user. The client
/// gives the app the user's record name.
public struct ZoneID: Hashable, Sendable, Codable, Comparable {
  public var name: String
  public var owner: String

  public init(name: String, owner: String) {
    self.name = name
    self.owner = owner
  }

  public static func == (left: ZoneID, right: ZoneID) -> Bool {
    left.name.hasSameBytes(as: right.name) && left.owner.hasSameBytes(as: right.owner)
  }

  public func hash(into hasher: inout Hasher) {
    for text in [name, owner] {
      for byte in text.utf8 { hasher.combine(byte) }
      // After each text comes a byte that UTF-8 never has, so that the end of the text is clear.
      hasher.combine(UInt8.max)
    }
  }

  public static func < (left: ZoneID, right: ZoneID) -> Bool {
    if left.owner.hasSameBytes(as: right.owner) {
      return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }
    return left.owner.utf8.lexicographicallyPrecedes(right.owner.utf8)
  }

  enum CodingKeys: String, CodingKey {
    case name = "zoneName"
    case owner = "ownerRecordName"
  }

  /// The zone with the user's record name in place of CloudKit's names for the signed-in user.
  func resolved(for user: String = Self.currentUser) -> ZoneID {
    let isOfCurrentUser = owner == Self.currentUser || owner == "_defaultOwner"
    return isOfCurrentUser ? ZoneID(name: name, owner: user) : self
  }

  /// The owner that stands for the signed-in user in requests.
  static let currentUser = "__defaultOwner__"
}

/// One of the user's two databases that have change tokens.
public enum UserDatabase: String, Hashable, Sendable, Codable, CaseIterable {
  /// The user's own zones.
  case `private`
  /// Zones that other users share with this user.
  case shared
}
