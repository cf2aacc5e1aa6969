import Dispatch
import Glibc
import RelayCore
import Synchronization
import Testing

@testable import RelayHTTP

/// Large bodies are read one after another, and callers take turns. Small bodies do not wait for
/// large ones. The tests run one at a time, because each test keeps a thread busy.
@Suite(.serialized) struct ReadingTurnsTests {
  private static func user(_ name: String) -> CallerID { .user(Rig.scope, UserID(name)) }

  /// Holds the only place until `letGo` is called, while `others` run.
  private func held(
    _ turns: ReadingTurns,
    while others: (_ letGo: @escaping @Sendable () -> Void) async throws -> Void
  ) async throws {
    let (begun, begins) = AsyncStream.makeStream(of: Void.self)
    let isOver = Mutex(false)
    let holder = Task.detached {
      try await turns.read(100, of: Self.user("_holder")) {
        begins.finish()
        while !isOver.withLock({ $0 }) { sched_yield() }
      }
    }
    for await _ in begun {}
    try await others { isOver.withLock { $0 = true } }
    try await holder.value
  }

  @Test func `a small body is read while a large body is being read`() async throws {
    let turns = ReadingTurns(atOnce: 1, largeBytes: 100)
    try await held(turns) { letGo in
      let said = try await turns.read(99, of: Self.user("_a")) { "read" }
      #expect(said == "read")
      letGo()
    }
  }

  /// Earlier, eight bodies of one producer were read before the only body of another producer.
  @Test func `callers with large bodies take turns`() async throws {
    let turns = ReadingTurns(atOnce: 1, largeBytes: 100)
    let (order, reads) = AsyncStream.makeStream(of: String.self)
    try await held(turns) { letGo in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, name) in ["_a", "_a", "_a", "_b"].enumerated() {
          group.addTask {
            try await turns.read(100, of: Self.user(name)) { _ = reads.yield(name) }
          }
          while turns.waiting <= index { await Task.yield() }
        }
        letGo()
        try await group.waitForAll()
      }
    }
    reads.finish()
    let names = await order.reduce(into: []) { $0.append($1) }
    #expect(names == ["_a", "_b", "_a", "_a"])
    #expect(turns.waiting == 0)
  }

  @Test func `a large body is read on a thread of lower priority`() async throws {
    func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
    let turns = ReadingTurns(atOnce: 2, largeBytes: 100)
    let own = niceness()
    let small = try await turns.read(99, of: Self.user("_a")) { niceness() }
    let large = try await turns.read(100, of: Self.user("_a")) { niceness() }
    #expect(small == own)
    #expect(large == min(19, own + ReadingThreads.niceness))
    #expect(niceness() == own, "what follows is done where it was before")
  }

  /// Records the priority of the threads that wake tasks. A thread inherits the priority of the
  /// thread that starts it.
  private final class WakingThreads: TaskExecutor {
    let niceness = Mutex<[Int32]>([])

    func enqueue(_ job: consuming ExecutorJob) {
      niceness.withLock { $0.append(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)) }
      let job = UnownedJob(job)
      DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  @Test func `a thread of lower priority wakes no task`() async throws {
    let own = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
    let (turns, waking) = (ReadingTurns(atOnce: 1, largeBytes: 100), WakingThreads())
    try await withTaskExecutorPreference(waking) {
      // If a read ends before its task waits, no thread wakes the task. So some rounds wake no
      // task.
      for _ in 0..<100 { try await turns.read(100, of: Self.user("_a")) {} }
    }
    let seen = waking.niceness.withLock { $0 }
    #expect(seen.allSatisfy { $0 == own }, "own \(own), seen \(seen)")
    #expect(waking.niceness.withLock { $0.count } > 3)
  }

  @Test func `a body that cannot be read frees its place for the next body`() async throws {
    struct Wrong: Error {}
    let turns = ReadingTurns(atOnce: 1, largeBytes: 100)
    await #expect(throws: Wrong.self) {
      try await turns.read(100, of: Self.user("_a")) { throw Wrong() }
    }
    let isRead = try await turns.read(100, of: Self.user("_a")) { true }
    #expect(isRead)
  }
}
