import DequeModule

/// Durable facts on their way into the core: each partition's in the order of its journal, and in
/// one turn of the loop no more than a bounded amount of work. A thousand changes that one user's
/// worst subscriptions look at so delay readers and other users by a turn, and not by all of them.
///
/// One request's facts for one partition become visible together. While they are stepped in part,
/// their partition is left out of cuts; when they all are, it begins no others before it has been
/// in one.
struct Stepping: Sendable {
  /// A fact to step now.
  struct Next: Sendable {
    var placed: GroupCommit.Placed
    /// Its request's last one for this partition: so much is not to be kept free any more.
    var frees: ForwardNeed?
  }

  /// One partition's part.
  private struct Line: Sendable {
    private(set) var waiting: Deque<GroupCommit.Durable> = []
    /// Of the first of them so many are stepped.
    private(set) var stepped = 0
    /// Facts that are stepped, and in no cut yet.
    var uncut = 0
    /// It was left out of a cut, or no more fits into the next.
    var isOwedCut = false

    var isTorn: Bool { stepped > 0 }
    /// It may go on now.
    var isReady: Bool { !waiting.isEmpty && (isTorn || !isOwedCut) }

    mutating func add(_ unit: GroupCommit.Durable) { waiting.append(unit) }

    mutating func stepFirst() {
      uncut += 1
      stepped += 1
      guard stepped == waiting.first?.facts.count else { return }
      waiting.removeFirst()
      stepped = 0
    }
  }

  /// By the number of the partition. They are changed in place: a copy of one would copy all that
  /// waits in it at its next change.
  private var lines = [Line](repeating: Line(), count: PartitionID.count)
  /// Numbers of the partitions that may go on, in the order of their turns.
  private var turns: Deque<Int> = []
  /// Facts that are not stepped yet.
  private(set) var count = 0
  private var workLeft = 0
  private var visitLeft: Int
  private let workPerTurn: Int
  /// What one partition has of it before it is the next one's turn.
  private var workPerVisit: Int { workPerTurn / 4 }

  init(workPerTurn: Int = WorkBounds().workPerTurn) {
    self.workPerTurn = workPerTurn
    visitLeft = workPerTurn / 4
  }

  var isEmpty: Bool { count == 0 }

  /// Whether something can be stepped in another turn.
  var isReady: Bool { !turns.isEmpty }

  /// Something waits for the next cut.
  var isAwaitingCut: Bool { !isEmpty && lines.contains { !$0.waiting.isEmpty && !$0.isReady } }

  /// Partitions that no cut may hold now.
  var torn: Set<PartitionID> {
    // While no fact waits, none is stepped in part.
    guard !isEmpty else { return [] }
    return Set(lines.indices.lazy.filter { lines[$0].isTorn }.map { PartitionID($0) })
  }

  /// - Parameter durable: in the order of the journal.
  mutating func add(_ durable: [GroupCommit.Durable]) {
    for unit in durable {
      guard let partition = unit.facts.first?.entry.partition else { continue }
      count += unit.facts.count
      change(Int(partition.number)) { $0.add(unit) }
    }
  }

  mutating func beginTurn() { workLeft = workPerTurn }

  /// The fact to step now, told `stepped` before the next is asked for; nil: the turn is over.
  func next() -> Next? {
    guard workLeft > 0, let number = turns.first, let unit = lines[number].waiting.first else {
      return nil
    }
    let stepped = lines[number].stepped
    let isLast = stepped + 1 == unit.facts.count
    return Next(placed: unit.facts[stepped], frees: isLast ? unit.need : nil)
  }

  /// - Parameter work: what stepping it cost.
  mutating func stepped(work: Int) {
    guard let number = turns.first else { return }
    workLeft -= work
    visitLeft -= work
    count -= 1
    lines[number].stepFirst()
    let isReady = lines[number].isReady
    guard visitLeft <= 0 || !isReady else { return }
    visitLeft = workPerVisit
    turns.removeFirst()
    if isReady { turns.append(number) }
  }

  /// A cut was taken.
  ///
  /// - Parameter left: partitions that it does not hold, among them all that are `torn`.
  /// - Returns: durable facts that it does not hold.
  mutating func cut(without left: Set<PartitionID>) -> Int {
    var facts = count
    for number in lines.indices {
      let isLeft = left.contains(PartitionID(number))
      if isLeft { facts += lines[number].uncut } else { lines[number].uncut = 0 }
      change(number) { $0.isOwedCut = isLeft }
    }
    return facts
  }

  /// As much waits for the next cut as one may hold: requests that are stepped in part go on to
  /// their ends, and no other begins before it is taken.
  mutating func waitForCut() {
    for number in lines.indices { change(number) { $0.isOwedCut = true } }
  }

  /// No cut can be made durable now: what waits for one goes on.
  mutating func foldFailed() {
    for number in lines.indices { change(number) { $0.isOwedCut = false } }
  }

  /// Changes a line, and gives or takes its turn as it becomes ready or no longer is.
  private mutating func change(_ number: Int, _ change: (inout Line) -> Void) {
    let wasReady = lines[number].isReady
    change(&lines[number])
    let isReady = lines[number].isReady
    if !wasReady, isReady { turns.append(number) }
    if wasReady, !isReady {
      if turns.first == number { visitLeft = workPerVisit }
      turns.removeAll { $0 == number }
    }
  }
}
