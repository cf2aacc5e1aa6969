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
    for row in Self.inOrder(rows) {
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
        guard var queue = waiting[target]?.removeValue(forKey: source) else { continue }
        while let row = queue.first {
          if row.message.isFanOut {
            guard room > 0 else { break }
            room -= 1
            underWay[target, default: 0] += 1
          }
          rows.append(row)
          queue.removeFirst()
        }
        if !queue.isEmpty { waiting[target]?[source] = queue }
      }
      if waiting[target]?.isEmpty == true { waiting[target] = nil }
    }
    return Self.inOrder(rows)
  }

  /// In order of source and serial. A fold's rows are most often so already, and may be 60,000: to
  /// sort their places costs less than to move them.
  private static func inOrder(_ rows: [OutboxRow]) -> [OutboxRow] {
    func isBefore(_ first: Int, _ second: Int) -> Bool {
      (rows[first].source, rows[first].key.serial) < (rows[second].source, rows[second].key.serial)
    }
    guard rows.indices.dropFirst().contains(where: { isBefore($0, $0 - 1) }) else { return rows }
    return rows.indices.sorted(by: isBefore).map { rows[$0] }
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
