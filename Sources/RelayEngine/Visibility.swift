package import RelayCore
import Synchronization

/// Which places have changes that no fold has brought to the store yet, and who waits for them
/// (P4). Readers ask here and never in the loop; at most `readersMax` wait, each until its deadline
/// or until a fold is refused.
package final class Visibility: Sendable {
  private struct Waiter: Sendable {
    /// On the boot clock.
    var until: Instant
    var places: [ReadPlace]
    var continuation: CheckedContinuation<Seen, Never>
  }

  private struct State {
    /// Dirtied since the last cut.
    var open: Set<ReadPlace> = []
    /// Dirtied before the cut under way.
    var inCut: Set<ReadPlace> = []
    /// In order of their deadlines, which is nearly that of arrival.
    var waitingForCut: [Waiter] = []
    var waitingForNext: [Waiter] = []
    var isRecovering = true
    /// Why the last fold was refused.
    var refusal: Unavailable.Cause?
    var isClosed = false

    /// What a reader of these places is told now; nil: it has to wait.
    func seen(_ places: [ReadPlace]) -> Seen? {
      if isRecovering { return .recovering }
      guard places.contains(where: { open.contains($0) || inCut.contains($0) }) else {
        return .visible
      }
      if isClosed { return .closed }
      return refusal.map { .refused($0) }
    }

    mutating func cut() {
      (inCut, open) = (open, [])
      (waitingForCut, waitingForNext) = (waitingForNext, [])
    }

    var readers: Int { waitingForNext.count + waitingForCut.count }

    mutating func takeAll() -> [Waiter] {
      defer { (waitingForCut, waitingForNext) = ([], []) }
      return waitingForCut + waitingForNext
    }
  }

  private let state = Mutex(State())
  private let readersMax: Int

  package init(readersMax: Int) { self.readersMax = readersMax }

  package enum Seen: Hashable, Sendable {
    case visible
    case closed
    case full
    case recovering
    /// The store has refused the fold: nobody knows when the next one holds.
    case refused(Unavailable.Cause)
    /// The deadline came first.
    case late
  }

  /// Recovery has dirtied what it found unfolded: before, nobody can know what is visible.
  package func begin() { state.withLock { $0.isRecovering = false } }

  /// Returns when everything dirtied in these places before the call is folded, or cannot be.
  ///
  /// - Parameters:
  ///   - until: on the boot clock.
  ///   - onWait: called once if the caller has to wait, when it is counted.
  package func wait(
    for places: [ReadPlace], until: Instant, onWait: () -> Void
  ) async -> Seen {
    await withCheckedContinuation { (continuation: CheckedContinuation<Seen, Never>) in
      let waiter = Waiter(until: until, places: places, continuation: continuation)
      let now: Seen? = state.withLock {
        if let seen = $0.seen(places) { return seen }
        // Counted and added at one moment: readers that come together do not pass the bound.
        guard $0.readers < readersMax else { return .full }
        if places.contains(where: $0.open.contains) {
          Self.add(waiter, to: &$0.waitingForNext)
        } else {
          Self.add(waiter, to: &$0.waitingForCut)
        }
        return nil
      }
      if let now { continuation.resume(returning: now) } else { onWait() }
    }
  }

  package func dirtied(_ places: [ReadPlace]) {
    state.withLock { for place in places { $0.open.insert(place) } }
  }

  /// A cut was taken: what is dirty is in it.
  ///
  /// - Parameter others: partitions that are not in it; who reads something of theirs waits on.
  package func cut(without others: Set<PartitionID> = []) {
    state.withLock { state in
      guard !others.isEmpty else { return state.cut() }
      let left = state.open.filter { others.contains($0.partition) }
      let late = state.waitingForNext.filter { $0.places.contains(where: left.contains) }
      state.open.subtract(left)
      state.waitingForNext.removeAll { $0.places.contains(where: left.contains) }
      state.cut()
      (state.open, state.waitingForNext) = (left, late)
    }
  }

  package func folded() {
    let waiters = state.withLock { state in
      state.inCut = []
      state.refusal = nil
      defer { state.waitingForCut = [] }
      return state.waitingForCut
    }
    for waiter in waiters { waiter.continuation.resume(returning: .visible) }
  }

  /// The fold was refused, and is tried again. Until one holds, readers of what is not folded are
  /// told at once; all others are served.
  package func refused(_ cause: Unavailable.Cause) {
    let waiters = state.withLock { state in
      state.refusal = cause
      return state.takeAll()
    }
    for waiter in waiters { waiter.continuation.resume(returning: .refused(cause)) }
  }

  /// Tells those whose deadline has come. Costs no more than there are of them.
  package func expire(at now: Instant) {
    let waiters = state.withLock { state in
      Self.overdue(&state.waitingForCut, at: now) + Self.overdue(&state.waitingForNext, at: now)
    }
    for waiter in waiters { waiter.continuation.resume(returning: .late) }
  }

  /// A request may wait a second time, and no longer than it would have waited at first.
  private static func add(_ waiter: Waiter, to waiters: inout [Waiter]) {
    let before = waiters.lastIndex { $0.until <= waiter.until }
    waiters.insert(waiter, at: before.map { $0 + 1 } ?? 0)
  }

  private static func overdue(_ waiters: inout [Waiter], at now: Instant) -> [Waiter] {
    let due = waiters.prefix { $0.until <= now }
    waiters.removeFirst(due.count)
    return Array(due)
  }

  package var hasReaders: Bool { readers > 0 }

  /// How many wait.
  var readers: Int { state.withLock { $0.readers } }

  /// The daemon ends: nobody waits for ever.
  package func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      return state.takeAll()
    }
    for waiter in waiters { waiter.continuation.resume(returning: .closed) }
  }
}
