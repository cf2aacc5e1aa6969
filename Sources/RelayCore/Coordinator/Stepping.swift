import DequeModule

/// Durable facts that wait to be stepped. Each partition's facts are stepped in the order of its
/// journal, with a bounded amount of work in one turn of the loop. So a thousand changes that are
/// costly to match delay readers and other users by one turn only.
///
/// One request's facts for one partition become visible together. A partition in which only some of
/// these facts are stepped is left out of cuts. After it was left out, the partition begins no
/// other request before it has been in a cut.
struct Stepping: Sendable {
  /// A fact to step now.
  struct Next: Sendable {
    var placed: GroupCommit.Placed
    /// The reserved room that this step frees, if the fact is its request's last one for the
    /// partition.
    var frees: ForwardNeed?
  }

  /// The facts of one partition.
  private struct Line: Sendable {
    private(set) var waiting: Deque<GroupCommit.Durable> = []
    /// How many facts of the first unit are stepped.
    private(set) var stepped = 0
    /// Facts that are stepped, and not yet in a cut.
    var uncut = 0
    /// Whether the partition must be in a cut before its next request begins, because it was left
    /// out of a cut or because the next cut is full.
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

  /// Whether a fact may be stepped now, before the next cut.
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

  /// The fact to step now; `nil` means that the turn is over. The caller must call `stepped` before
  /// the next call.
  func next() -> Next? {
    guard workLeft > 0, let number = turns.first, let unit = lines[number].waiting.first else {
      return nil
    }
    let stepped = lines[number].stepped
    let isLast = stepped + 1 == unit.facts.count
    return Next(placed: unit.facts[stepped], frees: isLast ? unit.need : nil)
  }

  /// - Parameter work: the step's cost, as counted by `Partition.work`.
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
  /// - Parameter left: partitions that are not in the cut, among them all `torn` ones.
  /// - Returns: how many durable facts are not in the cut.
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
  /// request begins before the cut is taken.
  mutating func waitForCut() {
    for number in lines.indices { change(number) { $0.isOwedCut = true } }
  }

  /// No cut can be made durable now, so facts that wait for a cut continue.
  mutating func foldFailed() {
    for number in lines.indices { change(number) { $0.isOwedCut = false } }
  }

  /// Changes a partition's line, and adds the partition to the turns or removes it when the line's
  /// readiness changes.
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
