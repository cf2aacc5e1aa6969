/// Wakes one waiting task. A signal without a waiting task ends the next wait at once.
struct AsyncSignal: Sendable {
  private let signals = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  func signal() { signals.continuation.yield() }

  /// Returns after a signal, after `most`, or when the task is cancelled. Once a waiting task was
  /// cancelled, every later wait returns at once. One task waits at a time.
  func wait(atMost most: Duration?) async {
    await withDiscardingTaskGroup { group in
      if let most {
        group.addTask {
          // The sleep is cancelled when another signal has ended the wait.
          try? await Task.sleep(for: most)
          if !Task.isCancelled { self.signal() }
        }
      }
      for await _ in signals.stream { break }
      group.cancelAll()
    }
  }
}
