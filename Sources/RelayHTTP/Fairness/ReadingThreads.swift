import Glibc
import NIOCore
import NIOPosix

/// Threads of lower priority, which read large bodies. While all cores are busy, the relay's loop,
/// its store and short requests run first. The threads end when the last reference to this object
/// is gone.
///
/// A thread inherits the priority of the thread that starts it, and only root, or a service with
/// systemd's `LimitNICE=`, may raise the priority again. Resuming a task may start a thread. So
/// these threads never resume a task; an event loop resumes the task instead.
final class ReadingThreads: Sendable {
  /// The number added to the daemon's niceness. While all cores are busy, each of these threads
  /// gets about a tenth of the time of an ordinary thread of the daemon.
  static let niceness: Int32 = 10

  private let threads: NIOThreadPool
  private let lowered: Int32
  /// The event loops that resume the tasks. This property starts the loops early, so that no thread
  /// of lower priority starts them.
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

  /// On Linux `PRIO_PROCESS` with the id 0 means the calling thread alone.
  private static let thisThread = __priority_which_t(PRIO_PROCESS.rawValue)
}

/// One piece of work for a thread of lower priority, and its outcome. The work is released when it
/// is done, and the outcome when the caller takes it, because the thread may keep this object for
/// longer.
///
/// `@unchecked Sendable`: only one thread at a time uses this object, because the caller waits
/// until the work is done.
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
