import NIOPosix

/// Runs one job at a time on a thread for one part of the engine alone: its loop, its commits or
/// its folds. On the threads that all requests share, these jobs would wait behind reads of the
/// store, and short requests behind a long step of the loop. The thread ends with the last
/// reference to its `EngineThread`.
final class EngineThread: TaskExecutor {
  private let thread = NIOThreadPool(numberOfThreads: 1)

  init() {
    thread.start()
    thread.submit { state in
      if case .active = state { Priority.engine.take() }
    }
  }

  deinit { thread.shutdownGracefully { _ in } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    thread.submit { _ in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
