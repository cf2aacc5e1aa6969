import Logging
import RelayCore

/// From the store to a relay that knows what it knew: tables first, then the journal's tail, before
/// READY. The tail is stepped with the instants it was journalled with: positions come out equal.
struct Recovery {
  let store: any Store
  let logger: Logger

  struct Recovered: ~Copyable {
    var relay: Relay
    var leases: [Lease]
    /// Of each partition, the last ordinal in its journal.
    var last: [Ordinal]
    var outbox: [OutboxRow]
    var facts: [(PartitionID, Fact)]
    var dirtied: [ReadPlace]
    /// Facts that were stepped again.
    var replayed: Int
    var latest: Instant
  }

  private static let readAtOnce = 4_096

  func run(
    eras: [PartitionID: UInt64], settings: EngineSettings
  ) async throws -> Recovered {
    let leases = try await store.claim(eras: eras)
    var tables: [PartitionTables] = []
    for lease in leases { tables.append(try await store.load(lease)) }
    var relay = Relay(tables, limits: settings.limits, policy: settings.policy)
    var last = [Ordinal](repeating: .zero, count: PartitionID.count)
    var effects: [Effect] = []
    var replayed = 0
    var latest = try await store.latestInstant()
    for table in tables {
      var cursor = table.cursor
      while true {
        try Task.checkCancellation()
        let tail = try await store.journal(table.id, after: cursor, limit: Self.readAtOnce)
        for entry in tail {
          relay.step(
            entry.fact, in: entry.partition, ordinal: entry.ordinal, at: entry.at, into: &effects)
          cursor = entry.ordinal
          latest = max(latest, entry.at)
        }
        replayed += tail.count
        if tail.count < Self.readAtOnce { break }
      }
      last[Int(table.id.number)] = cursor
    }
    for lease in leases {
      let index = Int(lease.partition.number)
      last[index] = max(last[index], Ordinal(lease.era.first.number - 1))
    }
    let dirtied = effects.compactMap { effect -> ReadPlace? in
      if case .dirtied(let place) = effect { return place }
      return nil
    }
    return Recovered(
      relay: relay, leases: leases, last: last, outbox: tables.flatMap(\.outbox), facts: [],
      dirtied: dirtied, replayed: replayed, latest: latest)
  }
}
