import DequeModule
import RelayCore

/// Durable facts on their way into the core: each partition's in the order of its journal, and in
/// one turn of the loop no more than a bounded amount of work. A thousand changes that one user's
/// worst subscriptions look at so delay readers and other users by a turn, and not by all of them.
///
/// One request's facts for one partition become visible together. While they are stepped in part,
/// their partition is left out of cuts; when they all are, it begins no others before it has been
/// in one.
struct Stepping: Sendable {
  /// What is stepped in one turn, as `Relay.step` counts it: some ten milliseconds.
  static let workPerTurn = 128 << 10
  /// What one partition has of it before it is the next one's turn.
  static let workPerVisit = workPerTurn / 4

  /// A fact to step now.
  struct Next: Sendable {
    var placed: GroupCommit.Placed
    /// Its request's last one for this partition: so much is not to be kept free any more.
    var frees: ForwardNeed?
  }

  private struct Line: Sendable {
    var waiting: Deque<GroupCommit.Durable> = []
    /// Of the first of them so many are stepped.
    var stepped = 0
    /// It was left out of a cut.
    var isOwedCut = false

    var isTorn: Bool { stepped > 0 }
    /// It may go on now.
    var isReady: Bool { !waiting.isEmpty && (isTorn || !isOwedCut) }
  }

  private var lines: [PartitionID: Line] = [:]
  /// Partitions that may go on, in the order of their turns.
  private var turns: Deque<PartitionID> = []
  /// Facts that are not stepped yet.
  private(set) var count = 0
  /// Of each partition those stepped since it was last in a cut.
  private var uncut = [Int](repeating: 0, count: PartitionID.count)
  private var workLeft = 0
  private var visitLeft = workPerVisit

  var isEmpty: Bool { count == 0 }

  /// Whether something can be stepped in another turn.
  var isReady: Bool { !turns.isEmpty }

  /// Something waits for the next cut.
  var isAwaitingCut: Bool { lines.values.contains { !$0.waiting.isEmpty && !$0.isReady } }

  /// Partitions that no cut may hold now.
  var torn: Set<PartitionID> { Set(lines.filter(\.value.isTorn).keys) }

  /// - Parameter durable: in the order of the journal.
  mutating func add(_ durable: [GroupCommit.Durable]) {
    for unit in durable {
      guard let partition = unit.facts.first?.entry.partition else { continue }
      let wasReady = lines[partition]?.isReady ?? false
      lines[partition, default: Line()].waiting.append(unit)
      count += unit.facts.count
      if !wasReady, lines[partition]?.isReady == true { turns.append(partition) }
    }
  }

  mutating func beginTurn() { workLeft = Self.workPerTurn }

  /// The fact to step now, told `stepped` before the next is asked for; nil: the turn is over.
  func next() -> Next? {
    guard workLeft > 0, let partition = turns.first, let line = lines[partition],
      let unit = line.waiting.first
    else { return nil }
    let isLast = line.stepped + 1 == unit.facts.count
    return Next(placed: unit.facts[line.stepped], frees: isLast ? unit.need : nil)
  }

  /// - Parameter work: what stepping it cost.
  mutating func stepped(work: Int) {
    guard let partition = turns.first, var line = lines[partition] else { return }
    workLeft -= work
    visitLeft -= work
    count -= 1
    uncut[Int(partition.number)] += 1
    line.stepped += 1
    if line.stepped == line.waiting.first?.facts.count {
      line.waiting.removeFirst()
      line.stepped = 0
    }
    let isReady = line.isReady
    lines[partition] = line.waiting.isEmpty && !line.isOwedCut ? nil : line
    guard visitLeft <= 0 || !isReady else { return }
    visitLeft = Self.workPerVisit
    turns.removeFirst()
    if isReady { turns.append(partition) }
  }

  /// A cut without what is `torn` was taken.
  ///
  /// - Returns: durable facts that it does not hold.
  mutating func cut() -> Int {
    var left = count
    for partition in PartitionID.all {
      let isTorn = lines[partition]?.isTorn ?? false
      if isTorn { left += uncut[Int(partition.number)] } else { uncut[Int(partition.number)] = 0 }
      setOwed(isTorn, partition)
    }
    return left
  }

  /// No cut can be made durable now: what waits for one goes on.
  mutating func foldFailed() {
    for partition in PartitionID.all { setOwed(false, partition) }
  }

  private mutating func setOwed(_ isOwed: Bool, _ partition: PartitionID) {
    guard var line = lines[partition] else { return }
    let wasReady = line.isReady
    line.isOwedCut = isOwed
    lines[partition] = line.waiting.isEmpty && !isOwed ? nil : line
    if !wasReady, line.isReady { turns.append(partition) }
  }
}
