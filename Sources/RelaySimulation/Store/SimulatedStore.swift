import RelayCore

/// A disk as one value: journal, tables and feeds, built on the core's own `Fold` and `Page`. What
/// is in it survives every crash; a copy of it is a backup.
struct SimulatedStore {
  var partitions = [StoredPartition](repeating: StoredPartition(), count: PartitionID.count)
  var feeds: [FeedKey: StoredFeed] = [:]
  var holders: [HeldAddress: DeviceRow] = [:]
  var latest = Instant.zero
  let limits: Limits
  let planted: Planted?

  init(limits: Limits, planted: Planted?) {
    self.limits = limits
    self.planted = planted
  }

  struct HeldAddress: Hashable {
    var scope: Scope
    var address: Address
  }

  mutating func append(_ rows: [JournalRow]) {
    for row in rows { partitions[Int(row.partition.number)].journal.append(row) }
  }

  func last(of id: PartitionID) -> Ordinal {
    let home = partitions[Int(id.number)]
    return max(home.cursor, home.journal.last?.ordinal ?? .zero)
  }

  /// A new life of every partition.
  mutating func claim(era: UInt64) {
    for id in PartitionID.all {
      let next = Era(id: era &+ UInt64(id.number), first: last(of: id).next)
      let index = Int(id.number)
      partitions[index].eras = Eras(partitions[index].eras.all + [next])
    }
  }

  func tables(of id: PartitionID) -> PartitionTables {
    let home = partitions[Int(id.number)]
    var tables = PartitionTables(id: id, cursor: home.cursor)
    tables.subscriptions = home.subscriptions.values.sorted { $0.serial < $1.serial }
    tables.devices = home.devices.values.sorted { $0.key < $1.key }
    if planted == .forgetsBudgets {
      for index in tables.devices.indices { tables.devices[index].lane.background = Budget() }
    }
    tables.grants = home.grants.values.sorted {
      ($0.scope, $0.zone, $0.participant) < ($1.scope, $1.zone, $1.participant)
    }
    tables.members = home.members.values.sorted { $0.serial < $1.serial }
    tables.remembered = home.remembered
    tables.outbox = home.outbox.values.sorted {
      ($0.key.serial, $0.key.target) < ($1.key.serial, $1.key.target)
    }
    tables.heard = home.heard.sorted { $0.key < $1.key }.map {
      Heard(source: $0.key, serial: $0.value)
    }
    tables.numbers = home.numbers.values.sorted { ($0.scope, $0.zone) < ($1.scope, $1.zone) }
    tables.fanOuts = home.fanOuts
    tables.interests = home.interests.sorted { $0.key < $1.key }.map {
      Interest(scope: $0.key, partitions: $0.value)
    }
    tables.badges = home.badges.values.sorted {
      ($0.key.scope, $0.key.user, $0.key.topic) < ($1.key.scope, $1.key.user, $1.key.topic)
    }
    tables.isRestoreProven = home.isRestoreProven
    return tables
  }
}

/// One partition's journal and tables.
struct StoredPartition {
  var eras = Eras([])
  var journal: [JournalRow] = []
  var cursor = Ordinal.zero
  var subscriptions: [SubscriptionKey: SubscriptionRow] = [:]
  var devices: [DeviceKey: DeviceRow] = [:]
  var grants: [MemberRow.Key: GrantRow] = [:]
  var members: [MemberRow.Key: MemberRow] = [:]
  var remembered: [Remembered] = []
  var outbox: [OutboxRow.Key: OutboxRow] = [:]
  var heard: [PartitionID: Position] = [:]
  var numbers: [FeedKey: NumbersRow] = [:]
  var fanOuts: [FanOut] = []
  var interests: [Scope: UInt64] = [:]
  var badges: [BadgeRow.Key: BadgeRow] = [:]
  var isRestoreProven = false
}

/// One feed: its state and an entry a subject.
struct StoredFeed {
  var state = FeedState()
  var entries: [Subject: Entry] = [:]
  /// When each was folded: what trimming goes by.
  var kept: [Subject: Instant] = [:]
}
