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

  /// - Parameter leases: of the partitions that were taken up.
  func run(_ leases: [Lease], settings: EngineSettings) async throws -> Recovered {
    var tables: [PartitionTables] = []
    for lease in leases { tables.append(try await store.load(lease)) }
    var relay = Relay(tables, limits: settings.limits, policy: settings.policy)
    let cursors = Dictionary(uniqueKeysWithValues: tables.map { ($0.id, $0.cursor) })
    var last = [Ordinal](repeating: .zero, count: PartitionID.count)
    for lease in leases {
      last[Int(lease.partition.number)] = max(
        cursors[lease.partition] ?? .zero, Ordinal(lease.era.first.number - 1))
    }
    var dirtied: [ReadPlace] = []
    var replayed = 0
    var latest = try await store.latestInstant()
    var place: JournalPlace?
    repeat {
      try Task.checkCancellation()
      let part = try await store.journal(
        after: place, beyond: cursors, limit: Self.readAtOnce)
      var effects: [Effect] = []
      for entry in part.entries {
        relay.step(
          entry.fact, in: entry.partition, ordinal: entry.ordinal, at: entry.at, into: &effects)
        let index = Int(entry.partition.number)
        last[index] = max(last[index], entry.ordinal)
        latest = max(latest, entry.at)
      }
      for case .dirtied(let place) in effects { dirtied.append(place) }
      replayed += part.entries.count
      place = part.next
    } while place != nil
    return Recovered(
      relay: relay, leases: leases, last: last, outbox: tables.flatMap(\.outbox), facts: [],
      dirtied: dirtied, replayed: replayed, latest: latest)
  }
}
