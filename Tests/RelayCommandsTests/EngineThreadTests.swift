import Glibc
import Synchronization
import Testing

@testable import RelayCommands

/// The engine's threads go before those that serve, where the system allows it.
@Suite struct EngineThreadTests {
  private static var niceness: Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

  /// Linux' RLIMIT_NICE, which Glibc does not show to Swift.
  private static let limitOfNiceness: UInt32 = 13

  /// What the system allows is asked of it: root may, and a unit's `LimitNICE=` allows it to others.
  private static var mayGoFirst: Bool {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(limitOfNiceness), &limit)
    return geteuid() == 0 || Int32(20 - min(40, limit.rlim_cur)) <= niceness + EngineThread.niceness
  }

  @Test func `an engine thread goes first if it may, and what it wakes does not`() async {
    let own = Self.niceness
    let (engine, woken) = await withTaskExecutorPreference(EngineThread()) {
      let woken = Task.detached { Self.niceness }
      return (Self.niceness, await woken.value)
    }
    #expect(engine == (Self.mayGoFirst ? own + EngineThread.niceness : own))
    #expect(woken == own)
  }

  @Test func `jobs are done in order on one thread`() async {
    final class Order: Sendable { let numbers = Mutex<[Int]>([]) }
    let order = Order()
    let thread = EngineThread()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        group.addTask(executorPreference: thread) {
          order.numbers.withLock { $0.append(number) }
        }
      }
    }
    #expect(order.numbers.withLock { $0 } == Array(0..<100))
  }
}
