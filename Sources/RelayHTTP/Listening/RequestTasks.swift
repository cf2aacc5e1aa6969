import Synchronization

/// A task for each request that is being answered. Not a task group: that walks the list of its
/// tasks when one ends, and ten thousand may be waiting for their answers.
final class RequestTasks: Sendable {
  private struct State {
    var running: [UInt64: Task<Void, Never>] = [:]
    var last: UInt64 = 0
    var isEnding = false
    /// Resumed when no more are taken and the last one has ended.
    var waiter: CheckedContinuation<Void, Never>?

    mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
      isEnding && running.isEmpty ? waiter.take() : nil
    }
  }

  private let state = Mutex(State())

  var count: Int { state.withLock { $0.running.count } }

  /// - Returns: false after `finish`: nothing was started.
  func start(_ work: @escaping @Sendable () async -> Void) -> Bool {
    state.withLock { state in
      guard !state.isEnding else { return false }
      state.last += 1
      let number = state.last
      // It ends after this: the lock is held until the task is written down.
      state.running[number] = Task {
        await work()
        self.ended(number)
      }
      return true
    }
  }

  /// No more are taken; those that run go on.
  func finish() {
    state.withLock { state in
      state.isEnding = true
      return state.takeWaiter()
    }?.resume()
  }

  /// The same, and those that run are told to end.
  func cancel() {
    for task in state.withLock({ Array($0.running.values) }) { task.cancel() }
    finish()
  }

  /// Returns when `finish` was called and the last one has ended. One caller waits.
  func finished() async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        state.waiter = continuation
        return state.takeWaiter()
      }?.resume()
    }
  }

  private func ended(_ number: UInt64) {
    state.withLock { state in
      state.running[number] = nil
      return state.takeWaiter()
    }?.resume()
  }
}
