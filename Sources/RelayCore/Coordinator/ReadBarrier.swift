/// Which places have changes that no fold has brought to the store yet, and who waits for them
/// (P4). A reader that waits is kept as a value of the shell's, and handed back with its answer; at
/// most `readersMax` wait, each until its deadline or until a fold is refused.
package struct ReadBarrier<Reader: Sendable>: Sendable {
  private struct Waiting: Sendable {
    /// On the boot clock.
    var until: Instant
    var places: [ReadTarget]
    var reader: Reader
  }

  private let readersMax: Int
  /// Dirtied since the last cut.
  private var open: Set<ReadTarget> = []
  /// Dirtied before the cut under way.
  private var inCut: Set<ReadTarget> = []
  /// In order of their deadlines, which is nearly that of arrival.
  private var waitingForCut: [Waiting] = []
  private var waitingForNext: [Waiting] = []
  private var isRecovering = true
  /// Why the last fold was refused.
  private var refusal: Unavailable.Cause?
  private var isClosed = false

  package init(readersMax: Int) { self.readersMax = readersMax }

  /// How many wait.
  package var readers: Int { waitingForNext.count + waitingForCut.count }

  /// Recovery has dirtied what it found unfolded. Until then every read is told `recovering`.
  package mutating func begin() { isRecovering = false }

  /// - Parameters:
  ///   - until: on the boot clock.
  ///   - reader: kept if it has to wait.
  /// - Returns: what it is told now; nil: it waits.
  package mutating func read(
    _ places: [ReadTarget], until: Instant, _ reader: @autoclosure () -> Reader
  ) -> ReadOutcome? {
    if isRecovering { return .recovering }
    guard places.contains(where: { open.contains($0) || inCut.contains($0) }) else {
      return .visible
    }
    if isClosed { return .closed }
    if let refusal { return .refused(refusal) }
    guard readers < readersMax else { return .full }
    let waiting = Waiting(until: until, places: places, reader: reader())
    if places.contains(where: open.contains) {
      Self.add(waiting, to: &waitingForNext)
    } else {
      Self.add(waiting, to: &waitingForCut)
    }
    return nil
  }

  package mutating func dirtied(_ place: ReadTarget) { open.insert(place) }

  /// A cut was taken: what is dirty is in it.
  ///
  /// - Parameter others: partitions that are not in it; who reads something of theirs waits on.
  package mutating func cut(without others: Set<PartitionID> = []) {
    guard !others.isEmpty else {
      (inCut, open) = (open, [])
      (waitingForCut, waitingForNext) = (waitingForNext, [])
      return
    }
    let left = open.filter { others.contains($0.partition) }
    let late = waitingForNext.filter { $0.places.contains(where: left.contains) }
    inCut = open.subtracting(left)
    waitingForCut = waitingForNext.filter { !$0.places.contains(where: left.contains) }
    (open, waitingForNext) = (left, late)
  }

  /// - Returns: readers that the cut let wait: everything is visible to them.
  package mutating func folded() -> [Reader] {
    inCut = []
    refusal = nil
    defer { waitingForCut = [] }
    return waitingForCut.map(\.reader)
  }

  /// The fold was refused, and is tried again. Until one holds, readers of what is not folded are
  /// told at once; all others are served.
  ///
  /// - Returns: readers that wait no longer.
  package mutating func refused(_ cause: Unavailable.Cause) -> [Reader] {
    refusal = cause
    return takeAll()
  }

  /// - Returns: readers whose deadline has come. Costs no more than there are of them.
  package mutating func expire(at now: Instant) -> [Reader] {
    Self.overdue(&waitingForCut, at: now) + Self.overdue(&waitingForNext, at: now)
  }

  /// The daemon ends: every reader that waits is told so.
  package mutating func close() -> [Reader] {
    isClosed = true
    return takeAll()
  }

  private mutating func takeAll() -> [Reader] {
    defer { (waitingForCut, waitingForNext) = ([], []) }
    return (waitingForCut + waitingForNext).map(\.reader)
  }

  /// A request may wait a second time, and no longer than it would have waited at first.
  private static func add(_ waiting: Waiting, to all: inout [Waiting]) {
    let before = all.lastIndex { $0.until <= waiting.until }
    all.insert(waiting, at: before.map { $0 + 1 } ?? 0)
  }

  private static func overdue(_ all: inout [Waiting], at now: Instant) -> [Reader] {
    let due = all.prefix { $0.until <= now }
    all.removeFirst(due.count)
    return due.map(\.reader)
  }
}

/// What a reader is told that waits for a fold.
package enum ReadOutcome: Hashable, Sendable {
  case visible
  case closed
  case full
  case recovering
  /// The store has refused the fold. It is tried again, at a time that is not known.
  case refused(Unavailable.Cause)
  /// The deadline came first.
  case late
}
