import Dispatch

/// One job at a time, on a thread for one part of the engine alone: its loop, its commits or its
/// folds. On the threads that all requests share, these would wait behind what is read there, and
/// short requests behind a long step of the loop.
final class EngineThread: TaskExecutor {
  /// Its priority is higher than that of requests where the system allows it, which is for root.
  private let queue: DispatchQueue

  init(_ part: String) {
    queue = DispatchQueue(label: "zonerelay.\(part)", qos: .userInitiated)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
