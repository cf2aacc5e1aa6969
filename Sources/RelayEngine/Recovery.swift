import RelayCore

/// Reads the store's tables and replays the journal's tail, before the daemon reports that it is
/// ready. The coordinator then continues where the journal ends.
struct Recovery {
  let store: any Store

  private static let readAtOnce = 4_096

  /// - Parameter leases: the leases of the claimed partitions.
  func run(_ leases: [Lease], settings: RelaySettings) async throws -> JournalReplay {
    var tables: [PartitionTables] = []
    for lease in leases { tables.append(try await store.load(lease)) }
    let cursors = Dictionary(uniqueKeysWithValues: tables.map { ($0.id, $0.cursor) })
    var replay = JournalReplay(
      tables, eras: Dictionary(uniqueKeysWithValues: leases.map { ($0.partition, $0.era) }),
      settings: settings)
    var place: JournalPlace?
    repeat {
      try Task.checkCancellation()
      let part = try await store.journal(
        after: place, beyond: cursors, limit: Self.readAtOnce)
      replay.replay(part.entries)
      place = part.next
    } while place != nil
    return replay
  }
}
