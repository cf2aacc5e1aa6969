package import RelayCore

/// A model of a store as one value: its journals, tables and feeds, built on the core's own `Fold`
/// and `Page`. A copy of the value equals what a crash at the moment of the copy leaves, and what a
/// backup of that moment holds.
///
/// The code is written for clarity, not for speed: the cost of a page grows with the length of its
/// feed.
package struct MemoryWorld: Sendable {
  package var partitions = [MemoryPartition](repeating: MemoryPartition(), count: PartitionID.count)
  package var feeds: [FeedKey: MemoryFeed] = [:]
  package var feedback = MemoryFeedback()
  /// The device that holds each address.
  var holders: [HeldAddress: AddressClaim] = [:]
  let limits: Limits

  package init(limits: Limits = Limits()) { self.limits = limits }

  struct HeldAddress: Hashable {
    var scope: Scope
    var address: Address
  }

  /// The relay's time at the last fold.
  package var latest: Instant { partitions.map(\.time).max() ?? .zero }

  /// The highest ordinal that was ever journalled in the partition.
  package func last(of id: PartitionID) -> Ordinal {
    let home = partitions[Int(id.number)]
    return max(home.cursor, home.journal.last?.ordinal ?? .zero)
  }

  package mutating func append(_ entries: [JournalEntry]) {
    for entry in entries { partitions[Int(entry.partition.number)].journal.append(entry) }
  }

  /// Begins a new life of a partition.
  package mutating func claim(_ id: PartitionID, era: UInt64) -> Era {
    let next = Era(id: era, first: last(of: id).next)
    let index = Int(id.number)
    partitions[index].wasStopped = partitions[index].isStopped
    partitions[index].isStopped = false
    partitions[index].eras = Eras(partitions[index].eras.all + [next])
    return next
  }

  package func tables(of partition: PartitionID) -> PartitionTables {
    let home = partitions[Int(partition.number)]
    var tables = PartitionTables(id: partition, cursor: home.cursor)
    tables.time = home.time
    tables.subscriptions = home.subscriptions.values.sorted { $0.serial < $1.serial }
    tables.devices = home.devices.values.sorted { $0.key < $1.key }
    tables.grants = home.grants.sorted { $0.key < $1.key }.map(\.value)
    tables.revocations = home.revocations.values.sorted {
      ($0.scope, $0.zone) < ($1.scope, $1.zone)
    }
    tables.members = home.members.values.sorted { $0.serial < $1.serial }
    tables.remembered = home.remembered
    tables.outbox = home.outbox.values.sorted {
      ($0.key.serial, $0.key.target) < ($1.key.serial, $1.key.target)
    }
    tables.heard = home.heard.sorted { $0.key < $1.key }.map {
      Heard(source: $0.key.source, serial: $0.value)
    }
    tables.numbers = home.numbers.values.sorted { ($0.scope, $0.zone) < ($1.scope, $1.zone) }
    tables.fanOuts = home.fanOuts.values.sorted { $0.origin < $1.origin }
    tables.wasStopped = home.wasStopped
    tables.isRestoreProven = home.isRestoreProven
    tables.expired = home.expired
    tables.interests = home.interests.sorted { $0.key < $1.key }.flatMap { key, sources in
      sources.sorted { $0.key < $1.key }.map {
        InterestRow(source: $0.key, interest: Interest(key: key, fields: $0.value))
      }
    }
    tables.badges = home.badges.values.sorted {
      ($0.key.scope, $0.key.user, $0.key.topic) < ($1.key.scope, $1.key.user, $1.key.topic)
    }
    return tables
  }
}

extension MemberRow.Key: Comparable {
  package static func < (left: Self, right: Self) -> Bool {
    (left.scope, left.zone, left.participant) < (right.scope, right.zone, right.participant)
  }
}
