/// Builds a relay from the store's tables and the journal's tail. Each fact of the tail is stepped
/// with the instant with which it was journalled, so that the replay has the same effects.
package struct JournalReplay: ~Copyable {
  var relay: Relay
  /// The last ordinal in each partition's journal.
  var last: [Ordinal]
  let outbox: [OutboxRow]
  private(set) var dirtied: [ReadTarget] = []
  /// The newest trace entries of the replay. `traced` is their number, and `untold` is the number
  /// of older trace entries that were left out.
  private var newest: [TraceBatch] = []
  private var (traced, untold) = (0, 0)
  /// How many entries of the journal were stepped again.
  package private(set) var replayed = 0
  /// The latest time that the store has: of a partition's tables or of an entry of the journal.
  private(set) var latest: Instant

  /// - Parameters:
  ///   - tables: the tables of the partitions that this relay owns.
  ///   - eras: for each partition, the era that begins now.
  package init(
    _ tables: [PartitionTables], eras: [PartitionID: Era], settings: RelaySettings
  ) {
    relay = Relay(
      tables, limits: settings.limits, policy: settings.policy, isTraced: settings.isTraced)
    last = [Ordinal](repeating: .zero, count: PartitionID.count)
    for (partition, era) in eras {
      last[Int(partition.number)] = Ordinal(era.first.number - 1)
    }
    for table in tables {
      let index = Int(table.id.number)
      last[index] = max(last[index], table.cursor)
    }
    outbox = tables.flatMap(\.outbox)
    latest = tables.map(\.time).max() ?? .zero
  }

  /// - Parameter entries: the next entries of the journal, each partition's in order.
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
    record()
  }

  /// How many trace entries of a long replay are kept: as many as the recorder has room for.
  package static let traceMax = 32_768

  private mutating func record() {
    let batches = relay.takeTrace()
    newest += batches
    traced += batches.reduce(0) { $0 + $1.count }
    var excess = 0
    // The limit includes the trace entry that states how many entries were left out.
    while traced + (untold > 0 ? 1 : 0) > Self.traceMax {
      traced -= newest[excess].count
      untold += newest[excess].count
      excess += 1
    }
    newest.removeFirst(excess)
  }

  /// The newest entries, for the flight recorder.
  var trace: [TraceBatch] {
    guard untold > 0 else { return newest }
    let at = newest.first?.first ?? latest
    return TraceBatch.of([TraceEntry(at: at, .lost(untold))]) + newest
  }
}
