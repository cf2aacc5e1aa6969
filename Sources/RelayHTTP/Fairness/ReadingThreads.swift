import DequeModule
import Foundation
import Glibc
import Synchronization

/// Threads of lower priority, on which large bodies are read: while all cores are busy, the loop,
/// its store and short requests go first, and a body is read ten times more slowly than it could
/// be. They end with the last reference.
final class ReadingThreads: TaskExecutor {
  /// More than what the daemon has: a tenth of the time of its other threads.
  static let niceness: Int32 = 10

  private let queue = JobQueue()
  private let count: Int

  init(count: Int) {
    self.count = count
    for _ in 0..<count {
      Thread.detachNewThread { [queue] in
        // On Linux this is for the calling thread alone.
        _ = nice(Self.niceness)
        while let (job, executor) = queue.next() {
          job.runSynchronously(on: executor.asUnownedTaskExecutor())
        }
      }
    }
  }

  deinit { for _ in 0..<count { queue.add(nil) } }

  func enqueue(_ job: consuming ExecutorJob) { queue.add((UnownedJob(job), self)) }
}

/// Jobs that wait for a thread; nil ends one thread.
private final class JobQueue: Sendable {
  typealias Item = (job: UnownedJob, executor: ReadingThreads)

  private let items = Mutex<Deque<Item?>>([])
  private let available = DispatchSemaphore(value: 0)

  func add(_ item: sending Item?) {
    items.withLock { $0.append(item) }
    available.signal()
  }

  func next() -> Item? {
    available.wait()
    return items.withLock { $0.removeFirst() }
  }
}
