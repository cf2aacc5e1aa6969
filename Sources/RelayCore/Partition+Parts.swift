import OrderedCollections

/// Whom a zone is shared with. Of those whose grant ended only the place of the last end is kept,
/// for the floor of a regrant.
struct ZoneGrants: Sendable {
  private(set) var participants: Set<UserID> = []
  /// How many participants live in each partition.
  private(set) var partitions: OrderedDictionary<PartitionID, Int> = [:]
  var lastRevocation = Position.zero

  var isEmpty: Bool { participants.isEmpty && lastRevocation == .zero }

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

/// What the next cut writes of one fan-out.
enum FanOutChange: Hashable, Sendable {
  /// Its change and where it stands.
  case begun
  /// Where it stands.
  case moved
  case ended
}

/// Tables' rows that the next cut writes. Devices are kept by slot and read at the cut.
struct RowChanges: Sendable {
  var subscriptions: OrderedDictionary<SubscriptionKey, SubscriptionRow?> = [:]
  var devices: OrderedSet<Int> = []
  var devicesRemoved: OrderedSet<DeviceKey> = []
  var grants: OrderedDictionary<MemberRow.Key, GrantRow> = [:]
  var revocations: OrderedSet<Partition.ZoneKey> = []
  var members: OrderedDictionary<MemberRow.Key, MemberRow?> = [:]
  var remembered: [Remembered] = []
  var forgotten: Ordinal = .zero
  var outbox: [OutboxRow] = []
  var delivered: [OutboxRow.Key] = []
  var heard: OrderedSet<Hearing> = []
  var numbers: OrderedSet<Partition.ZoneKey> = []
  var fanOuts: OrderedDictionary<Ordinal, FanOutChange> = [:]
  var interests: OrderedDictionary<InterestPlace, Interest.Fields> = [:]
  var badges: OrderedDictionary<BadgeRow.Key, BadgeRow> = [:]
  var expiries: [FeedExpiry] = []
  var isRestoreProven: Bool?
  var feedback: [Feedback] = []
}
