import Synchronization

/// Runs tasks on the thread that calls `run`, in the order in which they become due, so that the
/// result depends on the input alone.
final class OneThread: TaskExecutor {
  private struct State {
    var due: [UnownedJob] = []
    var tasks = 0
  }

  private let state = Mutex(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.due.append(job) }
  }

  /// Tasks that have not ended.
  var tasks: Int { state.withLock { $0.tasks } }

  func begin(_ work: @escaping @Sendable () async -> Void) {
    state.withLock { $0.tasks += 1 }
    Task(executorPreference: self) {
      await work()
      self.state.withLock { $0.tasks -= 1 }
    }
  }

  /// Runs a task to its end.
  ///
  /// - Returns: the result; nil if the task waits for something other than tasks of this executor.
  func value<Value: Sendable>(of work: @escaping @Sendable () async -> Value) -> Value? {
    let result = TaskResult<Value>()
    begin { result.set(await work()) }
    while run() {}
    return result.value
  }

  /// Runs the jobs that are due.
  ///
  /// - Returns: false if no job was due.
  @discardableResult
  func run() -> Bool {
    let due = state.withLock { state in
      defer { state.due = [] }
      return state.due
    }
    for job in due { job.runSynchronously(on: asUnownedTaskExecutor()) }
    return !due.isEmpty
  }
}
