import Dispatch

/// One thread, like the one that the daemon gives to the engine's loop.
final class LoopThread: TaskExecutor {
  private let queue = DispatchQueue(label: "zonerelay.test.loop")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
