import Dispatch

/// A thread for the engine's loop alone. On the threads that all requests share, the loop would
/// wait behind a large body that is read there, and short requests behind a long step of the loop.
final class LoopThread: TaskExecutor {
  private let queue = DispatchQueue(label: "zonerelay.loop", qos: .userInitiated)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
