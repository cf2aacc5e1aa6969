package import RelayCore
package import RelayEngine
package import RelayMemory
import Synchronization

/// A store in memory for tests and simulations. This store keeps every promise of `Store` except
/// durability beyond the process. The code is written for clarity, not for speed: the cost of a
/// page grows with the length of its feed.
///
/// A copy of `world` at any moment is what a crash at that moment leaves.
package final class MemoryStore: Store {
  private let state: Mutex<State>

  private struct State {
    var world: MemoryWorld
    var faults: [Call: [Fault]] = [:]
    var refusal: (@Sendable ([JournalEntry]) -> StoreError?)?
  }

  package enum Call: Hashable, Sendable { case claim, load, append, fold }

  /// How one call fails.
  package enum Fault: Hashable, Sendable {
    /// The store writes nothing.
    case refused(StoreError)
    /// The store writes, but the caller gets an error.
    case lost(StoreError)
  }

  package init(world: MemoryWorld = MemoryWorld()) {
    state = Mutex(State(world: world))
  }

  package var world: MemoryWorld { state.withLock { $0.world } }

  /// Makes the next calls fail, one fault each, in this order.
  package func inject(_ faults: [Fault], into call: Call) {
    state.withLock { $0.faults[call, default: []] += faults }
  }

  /// From now on `rule` checks the entries of each commit. If `rule` returns an error, the store
  /// refuses the commit with this error.
  package func refuse(_ rule: @escaping @Sendable ([JournalEntry]) -> StoreError?) {
    state.withLock { $0.refusal = rule }
  }

  package func claim(eras: [PartitionID: UInt64]) async throws(StoreError) -> [Lease] {
    try write(.claim) { world throws(StoreError) in
      eras.keys.sorted().map { world.lease($0, era: eras[$0] ?? 0) }
    }
  }

  package func load(_ lease: Lease) async throws(StoreError) -> PartitionTables {
    try write(.load) { world throws(StoreError) in
      try world.check([lease.partition], [lease])
      return world.tables(of: lease.partition)
    }
  }

  /// - Parameter place: where to go on: its number counts the entries that earlier calls returned.
  package func journal(
    after place: JournalPlace?, beyond cursors: [PartitionID: Ordinal], limit: Int
  ) async throws(StoreError) -> JournalPart {
    let world = world
    let all = cursors.keys.sorted().flatMap { id in
      world.partitions[Int(id.number)].journal.filter { $0.ordinal > cursors[id] ?? .zero }
    }
    let rest = all.dropFirst(Int(place?.number ?? 0))
    let next = Int64(all.count - rest.count + limit)
    return JournalPart(
      entries: Array(rest.prefix(limit)), next: rest.count > limit ? JournalPlace(next) : nil)
  }

  package func append(_ entries: [JournalEntry], leases: [Lease]) async throws(StoreError) {
    if let refusal = state.withLock({ $0.refusal })?(entries) { throw refusal }
    try write(.append) { world throws(StoreError) in
      try world.check(Set(entries.map(\.partition)), leases)
      world.append(entries)
    }
  }

  package func fold(_ cut: Cut, leases: [Lease]) async throws(StoreError) -> [OutboxRow] {
    try write(.fold) { world throws(StoreError) in
      try world.check(cut.written(of: leases.map(\.partition)), leases)
      return world.fold(cut)
    }
  }

  package func trim(
    tombstones: Instant, notifications: Instant, feedback: Instant, limit: Int, leases: [Lease]
  ) async throws(StoreError) -> Int {
    try write(nil) { world throws(StoreError) in
      let partitions = Set(leases.map(\.partition))
      try world.check(partitions, leases)
      let removed = world.trim(
        tombstones: tombstones, notifications: notifications, limit: limit, of: partitions)
      return removed + world.feedback.trim(before: feedback, limit: limit - removed)
    }
  }

  package func health() async throws(StoreError) -> StoreUsage {
    StoreUsage(engine: "memory", bytes: 0)
  }

  package func close() async {}

  func write<Value: Sendable>(
    _ call: Call?, _ body: (inout MemoryWorld) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    try state.withLock { state throws(StoreError) in
      var fault: Fault?
      if let call, state.faults[call]?.isEmpty == false {
        fault = state.faults[call]?.removeFirst()
      }
      if case .refused(let error) = fault { throw error }
      let value = try body(&state.world)
      if case .lost(let error) = fault { throw error }
      return value
    }
  }
}
