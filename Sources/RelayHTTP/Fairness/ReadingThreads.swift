import Glibc
import NIOCore
import NIOPosix

/// Threads of lower priority, on which large bodies are read: while all cores are busy, the loop,
/// its store and short requests go first. They end with the last reference.
///
/// A thread inherits the priority of the one that starts it, and only root or `LimitNICE=` may
/// raise it again. Whatever wakes a task may start a thread: so these never do, and let an event
/// loop wake it.
final class ReadingThreads: Sendable {
  /// More than what the daemon has: a tenth of the time of its other threads while these are busy.
  static let niceness: Int32 = 10

  private let threads: NIOThreadPool
  private let lowered: Int32
  /// Wake the tasks. Named here, so that none of these threads is the one that starts them.
  private let loops = MultiThreadedEventLoopGroup.singleton

  init(count: Int) {
    threads = NIOThreadPool(numberOfThreads: count)
    threads.start()
    lowered = min(19, getpriority(Self.thisThread, 0) + Self.niceness)
  }

  deinit { threads.shutdownGracefully { _ in } }

  func run<Value>(_ work: @escaping () throws -> Value) async throws -> Value {
    let handed = HandedWork(work)
    let (lowered, loops) = (lowered, loops)
    await withCheckedContinuation { done in
      threads.submit { _ in
        setpriority(Self.thisThread, 0, lowered)
        handed.run()
        loops.any().execute { done.resume() }
      }
    }
    return try handed.result()
  }

  /// On Linux a priority asked of the process is that of the calling thread alone.
  private static let thisThread = __priority_which_t(PRIO_PROCESS.rawValue)
}

/// Keeps what the work holds no longer than until it is done, and the outcome until it is taken:
/// the thread of lower priority may keep this object for longer.
///
/// `@unchecked Sendable`: one thread has it at a time, since the caller waits until it is done.
private final class HandedWork<Value>: @unchecked Sendable {
  private var work: (() throws -> Value)?
  private var outcome: Result<Value, any Error>?

  init(_ work: @escaping () throws -> Value) { self.work = work }

  func run() {
    outcome = work.map { work in Result { try work() } }
    work = nil
  }

  func result() throws -> Value {
    guard let outcome = outcome.take() else { preconditionFailure("the work was not done") }
    return try outcome.get()
  }
}
