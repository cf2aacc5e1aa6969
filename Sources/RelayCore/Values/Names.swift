/// A user's record name, such as `_abc…`. A user owns subscriptions, zones and devices.
package struct UserID: Hashable, Comparable, Sendable {
  package var name: String
  package init(_ name: String) { self.name = name }

  /// The user under which `zonerelay doctor` tries the way of a change. The name is the relay's own
  /// in every container: neither `status` nor feedback shows what this user's devices do.
  package static let doctor = UserID("_zonerelay-doctor")

  package static func == (left: UserID, right: UserID) -> Bool {
    ByteOrdered.areSame(left.name, right.name)
  }

  package static func < (left: UserID, right: UserID) -> Bool {
    ByteOrdered.precedes(left.name, right.name)
  }
}

/// One installation of the app, as it identifies itself (`clientId`).
package struct ClientID: Hashable, Comparable, Sendable {
  package var bits: Identifier
  package init(_ bits: Identifier) { self.bits = bits }

  /// Parses a UUID in either case; nil for any other text.
  package init?(text: some StringProtocol) { self.init(text: String(text)) }

  package init?(text: String) {
    guard let bits = Identifier(text: text) else { return nil }
    self.bits = bits
  }

  package var text: String { bits.text }
  package static func < (left: ClientID, right: ClientID) -> Bool { left.bits < right.bits }
}

extension ClientID {
  /// The id under which feeds of `owner` show the device that `user` has with this installation.
  /// Two users of one installation are two devices, and a change made by one of these devices is
  /// not the other device's own. So for any user but the owner the id is mixed with the user's
  /// name. Mixing twice restores the installation's id.
  package func device(of user: UserID, in owner: UserID) -> ClientID {
    guard user != owner else { return self }
    // FNV-1a, from two start values.
    var (high, low) = (UInt64(0xcbf2_9ce4_8422_2325), UInt64(0x84222325_cbf29ce4))
    for byte in user.name.utf8 {
      high = (high ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
      low = (low ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    return ClientID(Identifier(high: bits.high ^ high, low: bits.low ^ low))
  }
}

/// A subscription's name, unique among the subscriptions of its user in one database.
package struct SubscriptionID: Hashable, Comparable, Sendable {
  package var name: String
  package init(_ name: String) { self.name = name }

  package static func == (left: SubscriptionID, right: SubscriptionID) -> Bool {
    ByteOrdered.areSame(left.name, right.name)
  }

  package static func < (left: SubscriptionID, right: SubscriptionID) -> Bool {
    ByteOrdered.precedes(left.name, right.name)
  }
}

/// A zone: its name and the user that owns it.
///
/// `_defaultZone` exists everywhere and cannot be synced; the public database has no other.
package struct ZoneID: Hashable, Comparable, Sendable {
  package var name: String
  package var owner: UserID

  package init(name: String, owner: UserID) {
    self.name = name
    self.owner = owner
  }

  package static let defaultName = "_defaultZone"
  package static let publicDefault = ZoneID(name: defaultName, owner: UserID("_defaultOwner"))

  /// Whether this is the default zone, which clients cannot sync (CloudKit error 15/2027).
  package var isDefault: Bool { name == Self.defaultName }

  package static func == (left: ZoneID, right: ZoneID) -> Bool {
    ByteOrdered.areSame(left.name, right.name) && left.owner == right.owner
  }

  package static func < (left: ZoneID, right: ZoneID) -> Bool {
    if left.owner != right.owner { return left.owner < right.owner }
    return ByteOrdered.precedes(left.name, right.name)
  }
}
