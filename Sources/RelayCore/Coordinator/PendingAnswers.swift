import DequeModule
import HeapModule

/// Answers that wait for a fold, for other partitions to step the messages of a fact, or for a
/// recalled push, until this push has left or can no longer leave.
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
  /// For each fact, how many things it still waits for, and the answers that are due after that. A
  /// fact waits for each target of its messages and for each push that it recalled.
  private var forwards: [FactPlace: (left: Int, due: [Due])] = [:]
  /// For each partition, the ordinals of the facts in `forwards`, and of some facts that `forwards`
  /// no longer holds. All messages of facts before the first fact that `forwards` holds were
  /// delivered.
  private var undelivered: [PartitionID: Heap<Ordinal>] = [:]
  /// Folded facts in order of ordinals. Each waits until `forwards` holds neither that fact nor an
  /// earlier fact of its partition.
  private var late: [PartitionID: Deque<Waiting>] = [:]

  /// The facts of requests whose answers wait for a fold.
  var waiting: [RequestTicket] { (open + inCut).map(\.due.ticket) }

  /// Whether no answer waits for a fold or for other partitions.
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

  /// Lets the fact of each row wait until the row's target has stepped the message. The rows are
  /// those of a fold, or those that were not delivered when the last process ended.
  mutating func recovered(_ rows: [OutboxRow]) {
    for row in rows {
      waits(for: FactPlace(partition: row.source, ordinal: row.key.serial.ordinal))
    }
  }

  /// The cut is durable, and these rows are the messages that the fold put into outboxes.
  ///
  /// - Returns: answers that are due now.
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

  /// Takes the answers in `late` that need not wait any longer. Each fact enters a heap of
  /// `undelivered` once and leaves it once, so the cost is proportional to the number of facts.
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

  /// A row's target has stepped the message.
  mutating func delivered(_ key: OutboxRow.Key, from source: PartitionID) -> [Due] {
    settled(FactPlace(partition: source, ordinal: key.serial.ordinal))
  }

  /// The fact at this place waits for one more thing: a partition that must step a message of the
  /// fact, or a recalled push that may be leaving just now.
  mutating func waits(for place: FactPlace) {
    if forwards[place] == nil {
      undelivered[place.partition, default: Heap()].insert(place.ordinal)
    }
    forwards[place, default: (0, [])].left += 1
  }

  /// The recalled push has left, or can no longer leave.
  mutating func recalled(_ place: FactPlace) -> [Due] { settled(place) }

  private mutating func settled(_ place: FactPlace) -> [Due] {
    guard var entry = forwards[place] else { return [] }
    entry.left -= 1
    forwards[place] = entry.left > 0 ? entry : nil
    guard entry.left == 0 else { return [] }
    // Removes delivered facts from the heap even if no answer waits for them, so that the heap
    // stays small.
    _ = firstUndelivered(of: place.partition)
    return entry.due + caughtUp(place.partition)
  }
}
