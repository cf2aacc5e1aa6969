import DequeModule
import RelayCore

/// Messages between partitions, on their way from a durable outbox into their targets' journals: in
/// order, and held back where a target has too many fan-outs.
struct Forwarding: Sendable {
  private var waiting: [PartitionID: Deque<OutboxRow>] = [:]

  var isEmpty: Bool { waiting.isEmpty }

  /// - Parameter rows: of one fold, or of the tables at the start.
  mutating func add(_ rows: [OutboxRow]) {
    for row in rows.sorted(by: { ($0.source, $0.key.serial) < ($1.source, $1.key.serial) }) {
      waiting[row.key.target, default: []].append(row)
    }
  }

  /// What may go now.
  mutating func take(isFull: (PartitionID) -> Bool) -> [OutboxRow] {
    var rows: [OutboxRow] = []
    for target in waiting.keys.sorted() where !isFull(target) {
      rows.append(contentsOf: waiting.removeValue(forKey: target) ?? [])
    }
    return rows
  }
}
