/// From the store's tables and the journal's tail to a relay that knows what it knew. The tail is
/// stepped with the instants it was journalled with: positions come out equal.
package struct JournalReplay: ~Copyable {
  var relay: Relay
  /// Of each partition, the last ordinal in its journal.
  var last: [Ordinal]
  let outbox: [OutboxRow]
  private(set) var dirtied: [ReadTarget] = []
  /// Entries that were stepped again.
  package private(set) var replayed = 0
  private(set) var latest: Instant

  /// - Parameters:
  ///   - tables: of the partitions that this relay owns.
  ///   - eras: of each, the life that begins now.
  ///   - latest: the relay's time at its last fold.
  package init(
    _ tables: [PartitionTables], eras: [PartitionID: Era], latest: Instant,
    settings: RelaySettings
  ) {
    relay = Relay(tables, limits: settings.limits, policy: settings.policy)
    last = [Ordinal](repeating: .zero, count: PartitionID.count)
    for (partition, era) in eras {
      last[Int(partition.number)] = Ordinal(era.first.number - 1)
    }
    for table in tables {
      let index = Int(table.id.number)
      last[index] = max(last[index], table.cursor)
    }
    outbox = tables.flatMap(\.outbox)
    self.latest = latest
  }

  /// - Parameter entries: what follows, each partition's in its order.
  package mutating func replay(_ entries: [JournalEntry]) {
    var effects: [Effect] = []
    for entry in entries {
      relay.step(
        entry.fact, in: entry.partition, ordinal: entry.ordinal, at: entry.at, into: &effects)
      let index = Int(entry.partition.number)
      last[index] = max(last[index], entry.ordinal)
      latest = max(latest, entry.at)
    }
    for case .dirtied(let place) in effects { dirtied.append(place) }
    replayed += entries.count
  }
}
