import DequeModule

/// Messages between partitions, on their way from a durable outbox into their targets' journals: in
/// order of each source, and no more at once than the target has room for fan-outs. A message that
/// waits for room holds up those behind it of its source, and no others.
package struct Forwarding: Sendable {
  private var waiting: [PartitionID: [PartitionID: Deque<OutboxRow>]] = [:]
  /// By target: messages handed out and not yet stepped that may become fan-outs.
  private var underWay: [PartitionID: Int] = [:]

  package init() {}

  package var isEmpty: Bool { waiting.isEmpty }

  /// - Parameter rows: of one fold, or of the tables at the start.
  package mutating func add(_ rows: [OutboxRow]) {
    for row in rows.sorted(by: { ($0.source, $0.key.serial) < ($1.source, $1.key.serial) }) {
      waiting[row.key.target, default: [:]][row.source, default: []].append(row)
    }
  }

  /// What may go now, the rows of one message side by side.
  ///
  /// - Parameter fanOuts: how many more a partition may have.
  package mutating func take(room fanOuts: (PartitionID) -> Int) -> [OutboxRow] {
    var rows: [OutboxRow] = []
    for target in waiting.keys.sorted() {
      var room = fanOuts(target) - (underWay[target] ?? 0)
      for source in (waiting[target] ?? [:]).keys.sorted() {
        while let row = waiting[target]?[source]?.first {
          if row.message.isFanOut {
            guard room > 0 else { break }
            room -= 1
            underWay[target, default: 0] += 1
          }
          rows.append(row)
          waiting[target]?[source]?.removeFirst()
        }
        if waiting[target]?[source]?.isEmpty == true { waiting[target]?[source] = nil }
      }
      if waiting[target]?.isEmpty == true { waiting[target] = nil }
    }
    return rows.sorted { ($0.source, $0.key.serial) < ($1.source, $1.key.serial) }
  }

  /// The target has stepped it.
  package mutating func delivered(_ message: Forwarded.Message, to target: PartitionID) {
    guard message.isFanOut, let count = underWay[target] else { return }
    underWay[target] = count > 1 ? count - 1 : nil
  }
}

extension Forwarded.Message {
  /// Whether its target may go on with it in slices.
  var isFanOut: Bool {
    guard case .change(let change, _) = self else { return false }
    switch change.event {
    case .record: return true
    case .zone: return !change.endsZone
    case .granted, .revoked: return false
    }
  }
}
