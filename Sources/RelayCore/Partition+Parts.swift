import OrderedCollections

/// What has happened in one feed since the last cut.
struct FeedBuffer: Sendable {
  var cleared: Position?
  var floor: Position?
  var gap: Bool?
  var deltas: OrderedDictionary<Subject, Delta> = [:]
  var marks = WaitingMarks()

  var isUntouched: Bool {
    cleared == nil && floor == nil && gap == nil && deltas.isEmpty && marks.isEmpty
  }

  /// - Returns: true if nothing had befallen the subject since the last cut.
  mutating func add(_ touch: Touch, to subject: Subject) -> Bool {
    guard let index = deltas.index(forKey: subject) else {
      deltas[subject] = Delta(touch)
      return true
    }
    deltas.values[index].add(touch)
    return false
  }
}

/// Everybody a zone was ever shared with; those whose grant ended stay for the floor of a regrant.
struct ZoneGrants: Sendable {
  var participants: OrderedDictionary<UserID, Bool> = [:]
  /// How many active participants live in each partition.
  var partitions: OrderedDictionary<PartitionID, Int> = [:]

  var activeCount: Int { partitions.values.reduce(0, +) }

  mutating func activate(_ user: UserID, in partition: PartitionID) {
    participants[user] = true
    partitions[partition, default: 0] += 1
  }

  mutating func end(_ user: UserID, in partition: PartitionID) {
    participants[user] = false
    let left = (partitions[partition] ?? 1) - 1
    partitions[partition] = left > 0 ? left : nil
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
  var members: OrderedDictionary<MemberRow.Key, MemberRow?> = [:]
  var remembered: [Remembered] = []
  var forgotten: Ordinal = .zero
  var outbox: [OutboxRow] = []
  var delivered: [OutboxRow.Key] = []
  var heard: OrderedSet<PartitionID> = []
  var numbers: OrderedSet<Partition.ZoneKey> = []
  var fanOuts: OrderedDictionary<Ordinal, FanOutChange> = [:]
  var interests: OrderedDictionary<InterestPlace, Interest.Fields> = [:]
  var badges: OrderedDictionary<BadgeRow.Key, BadgeRow> = [:]
  var expiries: [FeedExpiry] = []
  var isRestoreProven: Bool?
  var feedback: [Feedback] = []
}
