import DequeModule
import HeapModule

/// Answers that wait for their moment: the fold, or everything their fact was forwarded to.
struct PendingAnswers: Sendable {
  struct Due: Sendable {
    var ticket: RequestTicket
    var answer: Answer
  }

  private struct Waiting: Sendable {
    var partition: PartitionID
    var ordinal: Ordinal
    var due: Due
    var moment: Answer.Moment
  }

  private var open: [Waiting] = []
  private var inCut: [Waiting] = []
  /// What each fact still waits for: partitions that it was forwarded to, and pushes taken back.
  private var forwards: [FactPlace: (left: Int, due: [Due])] = [:]
  /// Of each partition the facts in `forwards`, and some that are no more: the first one that is
  /// there tells how far everything before was delivered.
  private var undelivered: [PartitionID: Heap<Ordinal>] = [:]
  /// Folded, and waiting for all that their partitions forwarded before; in order of ordinals.
  private var late: [PartitionID: Deque<Waiting>] = [:]

  /// Whose answer waits for a fold.
  var waiting: [RequestTicket] { (open + inCut).map(\.due.ticket) }

  /// Nothing waits, for a fold or for other partitions.
  var isEmpty: Bool { !isAwaitingFold && forwards.isEmpty && late.isEmpty }

  var isAwaitingFold: Bool { !open.isEmpty || !inCut.isEmpty }

  mutating func wait(
    _ ticket: RequestTicket, _ answer: Answer, _ moment: Answer.Moment, _ partition: PartitionID,
    _ ordinal: Ordinal
  ) {
    open.append(
      Waiting(
        partition: partition, ordinal: ordinal, due: Due(ticket: ticket, answer: answer),
        moment: moment))
  }

  /// - Parameter others: partitions that are not in the cut.
  mutating func cut(without others: Set<PartitionID> = []) {
    inCut = open.filter { !others.contains($0.partition) }
    open.removeAll { !others.contains($0.partition) }
  }

  /// Rows that an earlier life left undelivered.
  mutating func recovered(_ rows: [OutboxRow]) {
    for row in rows {
      waits(for: FactPlace(partition: row.source, ordinal: row.key.serial.ordinal))
    }
  }

  /// The cut is durable, and these rows go to other partitions.
  ///
  /// - Returns: answers whose moment has come.
  mutating func folded(_ rows: [OutboxRow]) -> [Due] {
    recovered(rows)
    var due: [Due] = []
    for waiting in inCut {
      let place = FactPlace(partition: waiting.partition, ordinal: waiting.ordinal)
      switch waiting.moment {
      case .caughtUp: late[waiting.partition, default: []].append(waiting)
      case .settled where forwards[place] != nil: forwards[place]?.due.append(waiting.due)
      case .stepped, .folded, .settled: due.append(waiting.due)
      }
    }
    inCut = []
    for partition in late.keys.sorted() { due += caughtUp(partition) }
    return due
  }

  /// Costs what it answers: each fact comes into the heap once and leaves it once.
  private mutating func caughtUp(_ partition: PartitionID) -> [Due] {
    guard late[partition] != nil else { return [] }
    let first = firstUndelivered(of: partition) ?? Ordinal(.max)
    var due: [Due] = []
    while let next = late[partition]?.first, next.ordinal < first {
      due.append(next.due)
      late[partition]?.removeFirst()
    }
    if late[partition]?.isEmpty == true { late[partition] = nil }
    return due
  }

  private mutating func firstUndelivered(of partition: PartitionID) -> Ordinal? {
    while let first = undelivered[partition]?.min {
      if forwards[FactPlace(partition: partition, ordinal: first)] != nil { return first }
      undelivered[partition]?.removeMin()
    }
    undelivered[partition] = nil
    return nil
  }

  /// A row's target has stepped it.
  mutating func delivered(_ key: OutboxRow.Key, from source: PartitionID) -> [Due] {
    settled(FactPlace(partition: source, ordinal: key.serial.ordinal))
  }

  /// One more thing is awaited by the fact at this place: a partition that must hear of it, or a
  /// push that tells what it ended and is leaving at this very moment.
  mutating func waits(for place: FactPlace) {
    if forwards[place] == nil {
      undelivered[place.partition, default: Heap()].insert(place.ordinal)
    }
    forwards[place, default: (0, [])].left += 1
  }

  /// It has left, or cannot leave any more.
  mutating func recalled(_ place: FactPlace) -> [Due] { settled(place) }

  private mutating func settled(_ place: FactPlace) -> [Due] {
    guard var entry = forwards[place] else { return [] }
    entry.left -= 1
    forwards[place] = entry.left > 0 ? entry : nil
    guard entry.left == 0 else { return [] }
    // What is delivered leaves the heap at once where nothing waits for it, so that it stays small.
    _ = firstUndelivered(of: place.partition)
    return entry.due + caughtUp(place.partition)
  }
}
