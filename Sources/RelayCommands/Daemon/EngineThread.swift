import Glibc
import NIOPosix

/// One job at a time, on a thread for one part of the engine alone: its loop, its commits or its
/// folds. On the threads that all requests share, these would wait behind what is read there, and
/// short requests behind a long step of the loop. The thread ends with the last reference.
///
/// All requests wait for the engine, so it goes before the threads that serve while all cores are
/// busy, where the system allows it: root may, others need `LimitNICE=`, as in the unit.
final class EngineThread: TaskExecutor {
  /// Where the daemon itself has 0: nine times the share of a core that a serving thread has.
  static let niceness: Int32 = -10

  private let thread = NIOThreadPool(numberOfThreads: 1)

  init() {
    thread.start()
    thread.submit { state in
      if case .active = state { Self.goFirst() }
    }
  }

  deinit { thread.shutdownGracefully { _ in } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    thread.submit { _ in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Of the calling thread alone: a thread that Dispatch starts from it sets its own priority. What
  /// it inherited from another engine thread counts no further.
  private static func goFirst() {
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
  }
}
