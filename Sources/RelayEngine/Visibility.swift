package import RelayCore
import Synchronization

/// Which places have changes that no fold has brought to the store yet, and who waits for them
/// (P4). Readers ask here and never in the loop; at most `readersMax` wait.
package final class Visibility: Sendable {
  private struct State {
    /// Dirtied since the last cut.
    var open: Set<ReadPlace> = []
    /// Dirtied before the cut under way.
    var inCut: Set<ReadPlace> = []
    var waitingForCut: [CheckedContinuation<Bool, Never>] = []
    var waitingForNext: [CheckedContinuation<Bool, Never>] = []
    var isRecovering = true
    var isClosed = false
  }

  private let state = Mutex(State())
  private let readersMax: Int

  package init(readersMax: Int) { self.readersMax = readersMax }

  package enum Seen: Sendable { case visible, closed, full, recovering }

  /// Recovery has dirtied what it found unfolded: before, nobody can know what is visible.
  package func begin() { state.withLock { $0.isRecovering = false } }

  /// Returns when everything dirtied before the call is folded.
  ///
  /// - Parameter onWait: called once if the caller has to wait.
  package func wait(for place: ReadPlace, onWait: () -> Void) async -> Seen {
    enum Start { case visible, full, wait, recovering }
    let start: Start = state.withLock {
      if $0.isRecovering { return .recovering }
      guard $0.open.contains(place) || $0.inCut.contains(place) else { return .visible }
      return $0.waitingForCut.count + $0.waitingForNext.count >= readersMax ? .full : .wait
    }
    switch start {
    case .visible: return .visible
    case .full: return .full
    case .recovering: return .recovering
    case .wait: break
    }
    onWait()
    let isVisible = await withCheckedContinuation { (waiter: CheckedContinuation<Bool, Never>) in
      let now: Bool? = state.withLock {
        if $0.isClosed { return false }
        if $0.open.contains(place) {
          $0.waitingForNext.append(waiter)
        } else if $0.inCut.contains(place) {
          $0.waitingForCut.append(waiter)
        } else {
          return true
        }
        return nil
      }
      if let now { waiter.resume(returning: now) }
    }
    return isVisible ? .visible : .closed
  }

  package func dirtied(_ places: [ReadPlace]) {
    state.withLock { for place in places { $0.open.insert(place) } }
  }

  /// A cut was taken: what is dirty is in it.
  package func cut() {
    state.withLock {
      $0.inCut = $0.open
      $0.open = []
      $0.waitingForCut = $0.waitingForNext
      $0.waitingForNext = []
    }
  }

  package func folded() {
    let waiters = state.withLock { state in
      state.inCut = []
      defer { state.waitingForCut = [] }
      return state.waitingForCut
    }
    for waiter in waiters { waiter.resume(returning: true) }
  }

  package var hasReaders: Bool {
    state.withLock { !$0.waitingForNext.isEmpty || !$0.waitingForCut.isEmpty }
  }

  /// The daemon ends: nobody waits for ever.
  package func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      defer { (state.waitingForCut, state.waitingForNext) = ([], []) }
      return state.waitingForCut + state.waitingForNext
    }
    for waiter in waiters { waiter.resume(returning: false) }
  }
}
