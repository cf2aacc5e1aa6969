import RelayCore
import RelayMemory

/// A disk as one value. Its contents survive every crash, and a copy of the value is a backup. With
/// a planted bug, the store breaks a promise.
struct SimulatedStore {
  var world: MemoryWorld
  /// The flight recorder's file.
  var trace = MemoryTrace(most: 100_000)
  let mutant: Mutant?

  init(limits: Limits, mutant: Mutant?) {
    world = MemoryWorld(limits: limits)
    self.mutant = mutant
  }

  /// All feedback, in the order of the folds.
  var feedback: [Feedback] { world.feedback.items.map(\.item.feedback) }

  func journal(of id: PartitionID) -> [JournalEntry] { world.partitions[Int(id.number)].journal }

  /// Begins a new life of every partition.
  mutating func claim(era: UInt64) {
    for id in PartitionID.all { _ = world.claim(id, era: era &+ UInt64(id.number)) }
  }

  /// The newest era of each partition.
  var lives: [PartitionID: Era] {
    Dictionary(
      uniqueKeysWithValues: PartitionID.all.compactMap { id in
        world.partitions[Int(id.number)].eras.all.last.map { (id, $0) }
      })
  }

  /// - Returns: how many rows were removed.
  mutating func trim(tombstones: Instant, notifications: Instant) -> Int {
    world.trim(
      tombstones: tombstones, notifications: notifications, limit: Coordinator.trimRows,
      of: Set(PartitionID.all))
  }

  func tables(of id: PartitionID) -> PartitionTables {
    var tables = world.tables(of: id)
    if mutant == .forgetsBudgets {
      for index in tables.devices.indices { tables.devices[index].lane.background = Budget() }
    }
    return tables
  }
}
