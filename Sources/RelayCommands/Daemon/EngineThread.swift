import Glibc
import NIOPosix

/// One job at a time, on a thread for one part of the engine alone: its loop, its commits or its
/// folds. On the threads that all requests share, these would wait behind what is read there, and
/// short requests behind a long step of the loop. The thread ends with the last reference.
///
/// All requests wait for the engine, so it goes before the threads that serve while all cores are
/// busy, if the system allows it: to root, and where `LimitNICE=` does (the unit's).
final class EngineThread: TaskExecutor {
  /// Less than what the daemon has: three times the share of a core.
  static let niceness: Int32 = -5

  private let thread = NIOThreadPool(numberOfThreads: 1)

  init() {
    thread.start()
    thread.submit { _ in Self.goFirst() }
  }

  deinit { thread.shutdownGracefully { _ in } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    thread.submit { _ in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Of the calling thread alone: a thread that Dispatch starts from it sets its own priority.
  private static func goFirst() {
    let thisThread = __priority_which_t(PRIO_PROCESS.rawValue)
    setpriority(thisThread, 0, max(-20, getpriority(thisThread, 0) + niceness))
  }
}
