package import RelayCore
import RelayEngine

/// All that a `MemoryStore` holds, as one value.
package struct MemoryWorld: Sendable {
  var partitions = [MemoryPartition](repeating: MemoryPartition(), count: PartitionID.count)
  var feeds: [FeedKey: MemoryFeed] = [:]
  /// Who holds each address.
  var holders: [HeldAddress: AddressClaim] = [:]
  package var latest = Instant.zero
  let limits: Limits

  package init(limits: Limits = Limits()) { self.limits = limits }

  struct HeldAddress: Hashable {
    var scope: Scope
    var address: Address
  }

  func check(_ partitions: Set<PartitionID>, _ leases: [Lease]) throws(StoreError) {
    for partition in partitions.sorted() {
      let epoch = leases.first { $0.partition == partition }?.epoch
      guard epoch == self.partitions[Int(partition.number)].epoch else {
        throw StoreError(.stale, "the lease of partition \(partition.number) is over")
      }
    }
  }

  mutating func claim(_ partition: PartitionID, era: UInt64) -> Lease {
    let index = Int(partition.number)
    let last = max(partitions[index].cursor, partitions[index].journal.last?.ordinal ?? .zero)
    let next = Era(id: era, first: last.next)
    partitions[index].epoch += 1
    partitions[index].eras = Eras(partitions[index].eras.all + [next])
    return Lease(partition: partition, epoch: partitions[index].epoch, era: next)
  }

  func tables(of partition: PartitionID) -> PartitionTables {
    let home = partitions[Int(partition.number)]
    var tables = PartitionTables(id: partition, cursor: home.cursor)
    tables.subscriptions = home.subscriptions.values.sorted { $0.serial < $1.serial }
    tables.devices = home.devices.values.sorted { $0.key < $1.key }
    tables.grants = home.grants.sorted { $0.key < $1.key }.map(\.value)
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
    tables.isRestoreProven = home.isRestoreProven
    tables.interests = home.interests.sorted { $0.key < $1.key }.map {
      Interest(scope: $0.key, partitions: $0.value)
    }
    tables.badges = home.badges.values.sorted {
      ($0.key.scope, $0.key.user, $0.key.topic) < ($1.key.scope, $1.key.user, $1.key.topic)
    }
    return tables
  }
}

/// One partition's journal and tables.
struct MemoryPartition: Sendable {
  var epoch: UInt64 = 0
  var eras = Eras([])
  var journal: [JournalEntry] = []
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

/// One feed: its state and a row a subject.
struct MemoryFeed: Sendable {
  var state = FeedState()
  var rows: [Subject: MemoryRow] = [:]

  struct MemoryRow: Sendable {
    var entry: Entry
    /// The relay's time at the fold.
    var kept: Instant
  }
}

extension MemberRow.Key: Comparable {
  package static func < (left: Self, right: Self) -> Bool {
    (left.scope, left.zone, left.participant) < (right.scope, right.zone, right.participant)
  }
}
