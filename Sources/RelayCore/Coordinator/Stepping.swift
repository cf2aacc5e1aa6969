import DequeModule

/// Durable facts on their way into the core: each partition's in the order of its journal, with a
/// bounded amount of work in one turn of the loop. So a thousand changes that are costly to match
/// delay readers and other users by one turn only.
///
/// One request's facts for one partition become visible together. A partition in which only some of
/// them are stepped is left out of cuts. When all are stepped, the partition begins no other
/// request before it has been in a cut.
struct Stepping: Sendable {
  /// A fact to step now.
  struct Next: Sendable {
    var placed: GroupCommit.Placed
    /// The room that stepping this fact frees, if it is its request's last one for this partition.
    var frees: ForwardNeed?
  }

  /// The facts of one partition.
  private struct Line: Sendable {
    private(set) var waiting: Deque<GroupCommit.Durable> = []
    /// How many facts of the first unit are stepped.
    private(set) var stepped = 0
    /// Facts that are stepped, and not yet in a cut.
    var uncut = 0
    /// The partition was left out of a cut, or the next cut is full.
    var isOwedCut = false

    var isTorn: Bool { stepped > 0 }
    /// Whether the partition's next fact may be stepped now.
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

  /// Indexed by partition number. Lines are changed in place, because a change of a copied line
  /// would copy everything that waits in it.
  private var lines = [Line](repeating: Line(), count: PartitionID.count)
  /// Numbers of the partitions whose next fact may be stepped, in the order of their turns.
  private var turns: Deque<Int> = []
  /// Facts that are not stepped yet.
  private(set) var count = 0
  private var workLeft = 0
  private var visitLeft: Int
  private let workPerTurn: Int
  /// How much work one partition may do before the next one's turn.
  private var workPerVisit: Int { workPerTurn / 4 }

  init(workPerTurn: Int = WorkBounds().workPerTurn) {
    self.workPerTurn = workPerTurn
    visitLeft = workPerTurn / 4
  }

  var isEmpty: Bool { count == 0 }

  /// Whether a fact can be stepped in another turn.
  var isReady: Bool { !turns.isEmpty }

  /// Whether facts wait for the next cut.
  var isAwaitingCut: Bool { !isEmpty && lines.contains { !$0.waiting.isEmpty && !$0.isReady } }

  /// Partitions that must not be in a cut now.
  var torn: Set<PartitionID> {
    // While no fact waits, no unit is stepped in part.
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

  /// The fact to step now; call `stepped` before the next call. Nil: the turn is over.
  func next() -> Next? {
    guard workLeft > 0, let number = turns.first, let unit = lines[number].waiting.first else {
      return nil
    }
    let stepped = lines[number].stepped
    let isLast = stepped + 1 == unit.facts.count
    return Next(placed: unit.facts[stepped], frees: isLast ? unit.need : nil)
  }

  /// - Parameter work: the step's cost.
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
  /// - Parameter left: partitions that are not in it, among them all that are `torn`.
  /// - Returns: how many durable facts are not in it.
  mutating func cut(without left: Set<PartitionID>) -> Int {
    var facts = count
    for number in lines.indices {
      let isLeft = left.contains(PartitionID(number))
      if isLeft { facts += lines[number].uncut } else { lines[number].uncut = 0 }
      change(number) { $0.isOwedCut = isLeft }
    }
    return facts
  }

  /// The next cut is full: requests that are stepped in part continue to their ends, and no other
  /// begins before the cut is taken.
  mutating func waitForCut() {
    for number in lines.indices { change(number) { $0.isOwedCut = true } }
  }

  /// No cut can be made durable now, so facts that wait for one continue.
  mutating func foldFailed() {
    for number in lines.indices { change(number) { $0.isOwedCut = false } }
  }

  /// Changes a line, and adds it to or removes it from the turns as its readiness changes.
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
