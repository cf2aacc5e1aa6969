import Synchronization

/// Wakes one waiting task. A signal without a waiting task ends the next wait at once.
final class AsyncSignal: Sendable {
  private struct State {
    var isRung = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func signal() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let waiter = state.waiter.take() else {
        state.isRung = true
        return nil
      }
      return waiter
    }
    waiter?.resume()
  }

  /// Returns after a signal, after `most`, or when the task is cancelled. One task waits at a time.
  func wait(atMost most: Duration?) async {
    await withDiscardingTaskGroup { group in
      if let most {
        group.addTask {
          // The sleep is cancelled when another signal has ended the wait.
          try? await Task.sleep(for: most)
          if !Task.isCancelled { self.signal() }
        }
      }
      await self.wait()
      group.cancelAll()
    }
  }

  private func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
        let isThere = state.withLock { state in
          if state.isRung || Task.isCancelled {
            state.isRung = false
            return true
          }
          state.waiter = waiter
          return false
        }
        if isThere { waiter.resume() }
      }
    } onCancel: {
      signal()
    }
  }
}
