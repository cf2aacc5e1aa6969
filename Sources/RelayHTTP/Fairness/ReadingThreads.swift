import DequeModule
import Foundation
import Glibc
import Synchronization

/// Threads of lower priority, on which large bodies are read: while all cores are busy, the loop,
/// its store and short requests go first. They end with the last reference.
///
/// A thread inherits the priority of the one that starts it, and a daemon may not raise it again.
/// Whatever wakes a task may start a thread: so these never do, and tell one of normal priority.
final class ReadingThreads: Sendable {
  /// More than what the daemon has: a tenth of the time of its other threads while these are busy.
  static let niceness: Int32 = 10

  private let readers = ThreadJobs()
  private let teller = ThreadJobs()
  private let count: Int

  init(count: Int) {
    self.count = count
    for _ in 0..<count {
      Thread.detachNewThread { [readers] in
        // On Linux this is for the calling thread alone.
        _ = nice(Self.niceness)
        while let job = readers.next() { job() }
      }
    }
    Thread.detachNewThread { [teller] in
      while let job = teller.next() { job() }
    }
  }

  deinit {
    for _ in 0..<count { readers.add(nil) }
    teller.add(nil)
  }

  func run<Value>(_ work: @escaping () throws -> Value) async throws -> Value {
    let handed = HandedWork(work)
    await withCheckedContinuation { done in
      readers.add { [teller] in
        handed.run()
        teller.add { done.resume() }
      }
    }
    return try handed.result()
  }
}

/// `@unchecked Sendable`: one thread has it at a time, since the caller waits until it is done.
private final class HandedWork<Value>: @unchecked Sendable {
  private let work: () throws -> Value
  private var outcome: Result<Value, any Error>?

  init(_ work: @escaping () throws -> Value) { self.work = work }

  func run() { outcome = Result { try work() } }

  func result() throws -> Value {
    guard let outcome else { preconditionFailure("the work was not done") }
    return try outcome.get()
  }
}

/// Jobs that wait for a thread; nil ends one thread.
private final class ThreadJobs: Sendable {
  typealias Job = @Sendable () -> Void

  private let jobs = Mutex<Deque<Job?>>([])
  private let available = DispatchSemaphore(value: 0)

  func add(_ job: Job?) {
    jobs.withLock { $0.append(job) }
    available.signal()
  }

  func next() -> Job? {
    available.wait()
    return jobs.withLock { $0.removeFirst() }
  }
}
