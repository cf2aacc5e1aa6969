import Glibc
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import RelayCommands

/// The engine's threads have priority over the serving threads, if the system allows it.
@Suite struct EngineThreadTests {
  private static var niceness: Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

  /// Linux' RLIMIT_NICE, which Glibc does not show to Swift.
  private static let limitOfNiceness: UInt32 = 13

  /// Whether the system allows the priority: for root, or through a unit's `LimitNICE=`.
  private static var mayGoFirst: Bool {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(limitOfNiceness), &limit)
    return geteuid() == 0 || 20 - Int32(min(40, limit.rlim_cur)) <= Priority.engine.rawValue
  }

  @Test func `an engine thread gets a higher priority if the system allows it`() async {
    let own = Self.niceness
    let engine = await withTaskExecutorPreference(EngineThread()) { Self.niceness }
    #expect(engine == (Self.mayGoFirst ? Priority.engine.rawValue : own))
  }

  /// A thread inherits the priority of the thread that starts it. Earlier, the engine raised that
  /// priority once more.
  @Test func `an engine thread that another one starts keeps the same priority`() async {
    let own = Self.niceness
    let (first, second) = await withTaskExecutorPreference(EngineThread()) {
      (Self.niceness, await withTaskExecutorPreference(EngineThread()) { Self.niceness })
    }
    #expect(first == second)
    #expect(Self.niceness == own, "the thread that waited keeps its own")
  }

  @Test func `event loops get a higher priority if the system allows it`() async throws {
    let own = Self.niceness
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    Priority.serving.give(to: group)
    for loop in group.makeIterator() {
      let found = try await loop.submit { Self.niceness }.get()
      #expect(found == (Self.mayGoFirst ? Priority.serving.rawValue : own))
    }
    try await group.shutdownGracefully()
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
