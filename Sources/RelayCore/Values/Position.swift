/// A fact's number in its partition's journal. The number rises by one with each fact; the first is
/// 1.
package struct Ordinal: Hashable, Comparable, Sendable {
  package var number: UInt64
  package init(_ number: UInt64) { self.number = number }

  package static let zero = Ordinal(0)
  package var next: Ordinal { Ordinal(number + 1) }
  package static func < (left: Ordinal, right: Ordinal) -> Bool { left.number < right.number }
}

/// A place in a feed. Its bits are the ordinal of a fact · 2¹⁶ + the index of the entry among the
/// fact's entries in the feed.
///
/// Positions only rise and never depend on a clock, so a replay of the journal gives the same
/// positions.
package struct Position: Hashable, Comparable, Sendable {
  package var bits: UInt64
  package init(bits: UInt64) { self.bits = bits }

  /// - Precondition: `index` < 65,536. The ranges of `limits.subscriptionsPerUser` and
  ///   `limits.notificationsPerUser` keep every index below this number.
  package init(_ ordinal: Ordinal, index: Int = 0) {
    precondition(index < 1 << 16, "a fact made more than 65,536 entries in one feed")
    bits = ordinal.number << 16 | UInt64(index)
  }

  package static let zero = Position(bits: 0)
  /// Before every entry, but above zero: the position of a reader that has seen an empty feed.
  package static let origin = Position(bits: 1)
  package var ordinal: Ordinal { Ordinal(bits >> 16) }
  package static func < (left: Position, right: Position) -> Bool { left.bits < right.bits }
}

/// One of the 64 shares of the users, chosen by a hash, with all their data. Each partition has one
/// state machine and one journal.
package struct PartitionID: Hashable, Comparable, Sendable {
  package var number: UInt16
  package init(_ number: Int) { self.number = UInt16(number) }

  /// The number of partitions. It never changes for a store, because another number would assign
  /// the users to other partitions.
  package static let count = 64
  package static var all: [PartitionID] { (0..<count).map { PartitionID($0) } }

  /// The partition of a user and all the user's data. The hash is FNV-1a, because Swift's own
  /// hashing is seeded anew in each process and this assignment is permanent.
  package static func home(of user: UserID, in scope: Scope) -> PartitionID {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    for byte in scope.container.utf8 { mix(byte) }
    mix(scope.environment.rawValue)
    for byte in user.name.utf8 { mix(byte) }
    return PartitionID(Int((hash ^ hash >> 32) % UInt64(count)))
  }

  /// The partition to which changes of a zone go first: the home of the zone's owner, or one
  /// partition for the whole public database of a scope.
  package static func home(of zone: ZoneID, _ database: Database, in scope: Scope) -> PartitionID {
    home(of: database == .public ? ZoneID.publicDefault.owner : zone.owner, in: scope)
  }

  package static func < (left: PartitionID, right: PartitionID) -> Bool {
    left.number < right.number
  }
}
