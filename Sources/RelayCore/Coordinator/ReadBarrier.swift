/// Which places have changes that no fold has brought to the store yet, and which readers wait for
/// such changes (P4). The barrier keeps a value of the shell for each waiting reader, and returns
/// the value when the wait ends. At most `readersMax` readers wait. A wait ends when the fold is
/// durable, when a fold is refused, or at the reader's deadline, but at the latest after `waitMax`.
package struct ReadBarrier<Reader: Sendable>: Sendable {
  private struct Waiting: Sendable {
    /// The reader's deadline on the boot clock.
    var until: Instant
    var places: [ReadTarget]
    var reader: Reader
  }

  private let readersMax: Int
  private let waitMax: Span
  /// Places dirtied since the last cut.
  private var open: Set<ReadTarget> = []
  /// Places dirtied before the cut under way.
  private var inCut: Set<ReadTarget> = []
  /// Readers that wait for the cut under way, in order of their deadlines, which is nearly the
  /// order of arrival.
  private var waitingForCut: [Waiting] = []
  private var waitingForNext: [Waiting] = []
  private var isRecovering = true
  /// Why the last fold was refused.
  private var refusal: Unavailable?
  private var isClosed = false

  package init(readersMax: Int, waitMax: Span) {
    (self.readersMax, self.waitMax) = (readersMax, waitMax)
  }

  /// How many readers wait.
  package var readers: Int { waitingForNext.count + waitingForCut.count }

  /// Recovery has marked every place that has unfolded changes. Every read before this call gets
  /// refused.
  package mutating func begin() { isRecovering = false }

  /// - Parameters:
  ///   - until: the reader's deadline on the boot clock.
  ///   - now: the time on the boot clock.
  ///   - reader: the shell's value, which is kept if the reader has to wait.
  /// - Returns: the outcome now; `nil` means that the reader waits.
  package mutating func read(
    _ places: [ReadTarget], until: Instant, at now: Instant, _ reader: @autoclosure () -> Reader
  ) -> ReadOutcome? {
    if isRecovering { return .refused(.recovering) }
    guard places.contains(where: { open.contains($0) || inCut.contains($0) }) else {
      return .visible
    }
    if isClosed { return .refused(.draining) }
    if let refusal { return .refused(refusal) }
    guard readers < readersMax else { return .refused(.readersFull) }
    let waiting = Waiting(until: min(until, now + waitMax), places: places, reader: reader())
    if places.contains(where: open.contains) {
      Self.add(waiting, to: &waitingForNext)
    } else {
      Self.add(waiting, to: &waitingForCut)
    }
    return nil
  }

  package mutating func dirtied(_ place: ReadTarget) { open.insert(place) }

  /// A cut was taken: all dirty places are in it, except for those of the partitions `others`.
  ///
  /// - Parameter others: partitions that are not in the cut; their readers continue to wait.
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

  /// - Returns: readers that waited for the cut; the changes that they waited for are now visible.
  package mutating func folded() -> [Reader] {
    inCut = []
    refusal = nil
    defer { waitingForCut = [] }
    return waitingForCut.map(\.reader)
  }

  /// The store refused the fold, which is tried again. Until a fold succeeds, readers of unfolded
  /// places get `.refused` at once; all other readers are served.
  ///
  /// - Returns: readers that wait no longer.
  package mutating func refused(_ cause: Unavailable) -> [Reader] {
    refusal = cause
    return takeAll()
  }

  /// - Returns: readers whose deadline has come. The cost is proportional to their number.
  package mutating func expire(at now: Instant) -> [Reader] {
    Self.overdue(&waitingForCut, at: now) + Self.overdue(&waitingForNext, at: now)
  }

  /// The daemon ends, so no reader waits any more; the result is all readers that waited.
  package mutating func close() -> [Reader] {
    isClosed = true
    return takeAll()
  }

  private mutating func takeAll() -> [Reader] {
    defer { (waitingForCut, waitingForNext) = ([], []) }
    return (waitingForCut + waitingForNext).map(\.reader)
  }

  /// Inserts a reader in the order of deadlines. A request that waits a second time keeps its first
  /// deadline, so it may come before readers that wait already.
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

/// The outcome of a read that may have waited for a fold.
package enum ReadOutcome: Hashable, Sendable {
  case visible
  /// The changes are not visible yet; the reader may retry.
  case refused(Unavailable)

  /// The deadline came before the fold.
  package static let late = ReadOutcome.refused(.storeSlow)
  /// The daemon ends.
  package static let closed = ReadOutcome.refused(.draining)
}
