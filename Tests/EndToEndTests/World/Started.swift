import Foundation
import Synchronization

/// The processes that a test has started; none of them outlives the test.
final class Started: Sendable {
  private let processes = Mutex<[Process]>([])

  func add(_ process: Process) { processes.withLock { $0.append(process) } }

  /// Kills the processes that still run. A test that passed has stopped its processes before.
  func killAll() {
    for process in processes.withLock({ $0 }) where process.isRunning {
      kill(process.processIdentifier, SIGKILL)
    }
  }
}
