import OrderedCollections

/// The users that a zone is shared with. Of ended grants only the position of the last end is kept.
/// A new grant raises its participant's floor to this position.
struct ZoneGrants: Sendable {
  private(set) var participants: Set<UserID> = []
  /// How many of the participants are users of each partition.
  private(set) var partitions: OrderedDictionary<PartitionID, Int> = [:]
  var lastRevocation = Position.zero

  mutating func activate(_ user: UserID, in partition: PartitionID) {
    participants.insert(user)
    partitions[partition, default: 0] += 1
  }

  mutating func end(_ user: UserID, in partition: PartitionID, at position: Position) {
    participants.remove(user)
    let left = (partitions[partition] ?? 1) - 1
    partitions[partition] = left > 0 ? left : nil
    lastRevocation = position
  }
}
