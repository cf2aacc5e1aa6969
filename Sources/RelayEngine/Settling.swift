import RelayCore

/// Answers that wait for their moment: the fold, or everything their fact was forwarded to.
struct Settling: Sendable {
  /// Whose answer: a place in a submission.
  struct Ticket: Hashable, Sendable {
    var submission: UInt64
    var index: Int
  }

  struct Due: Sendable {
    var ticket: Ticket
    var answer: Answer
  }

  private struct Waiting: Sendable {
    var partition: PartitionID
    var ordinal: Ordinal
    var due: Due
    var moment: Answer.Moment
  }

  private struct Place: Hashable, Sendable {
    var partition: PartitionID
    var ordinal: Ordinal
  }

  private var open: [Waiting] = []
  private var inCut: [Waiting] = []
  private var forwards: [Place: (left: Int, due: [Due])] = [:]
  /// Folded, and waiting for all that their partitions forwarded before.
  private var late: [Waiting] = []

  var isAwaitingFold: Bool { !open.isEmpty || !inCut.isEmpty }

  mutating func wait(
    _ ticket: Ticket, _ answer: Answer, _ moment: Answer.Moment, _ partition: PartitionID,
    _ ordinal: Ordinal
  ) {
    open.append(
      Waiting(
        partition: partition, ordinal: ordinal, due: Due(ticket: ticket, answer: answer),
        moment: moment))
  }

  mutating func cut() {
    inCut = open
    open = []
  }

  /// Rows that an earlier life left undelivered.
  mutating func recovered(_ rows: [OutboxRow]) {
    for row in rows {
      let place = Place(partition: row.source, ordinal: row.key.serial.ordinal)
      forwards[place, default: (0, [])].left += 1
    }
  }

  /// The cut is durable, and these rows go to other partitions.
  ///
  /// - Returns: answers whose moment has come.
  mutating func folded(_ rows: [OutboxRow]) -> [Due] {
    recovered(rows)
    var due: [Due] = []
    for waiting in inCut {
      let place = Place(partition: waiting.partition, ordinal: waiting.ordinal)
      switch waiting.moment {
      case .caughtUp: late.append(waiting)
      case .settled where forwards[place] != nil: forwards[place]?.due.append(waiting.due)
      case .stepped, .folded, .settled: due.append(waiting.due)
      }
    }
    inCut = []
    return due + caughtUp()
  }

  private mutating func caughtUp() -> [Due] {
    guard !late.isEmpty else { return [] }
    let still = late.filter { waiting in
      forwards.keys.contains {
        $0.partition == waiting.partition && $0.ordinal <= waiting.ordinal
      }
    }
    let due = late.filter { waiting in !still.contains { $0.due.ticket == waiting.due.ticket } }
    late = still
    return due.map(\.due)
  }

  /// A row's target has stepped it.
  mutating func delivered(_ key: OutboxRow.Key, from source: PartitionID) -> [Due] {
    let place = Place(partition: source, ordinal: key.serial.ordinal)
    guard var entry = forwards[place] else { return [] }
    entry.left -= 1
    forwards[place] = entry.left > 0 ? entry : nil
    return entry.left > 0 ? [] : entry.due + caughtUp()
  }
}
