import Synchronization

/// The result of a task, for the thread that waits for it.
final class TaskResult<Value: Sendable>: Sendable {
  private let state = Mutex<Value?>(nil)
  /// The task's result; `nil` until the task has ended.
  var value: Value? { state.withLock { $0 } }
  func set(_ value: Value) { state.withLock { $0 = value } }
}
