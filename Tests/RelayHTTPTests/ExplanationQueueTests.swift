import Dispatch
import RelayCore
import Testing

@testable import RelayHTTP

/// Explanations are computed beside the threads that answer devices, and only some wait.
@Suite struct ExplanationQueueTests {
  @Test func `a fifth explanation is refused, and the four before it are answered`() async throws {
    let queue = ExplanationQueue(clock: TestClock())
    let gate = DispatchSemaphore(value: 0)
    let answers = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<ExplanationQueue.explanationsMax {
        group.addTask {
          try await queue.run(asked: TestClock().now) { _ in
            gate.wait()
            return number
          }
        }
      }
      while !queue.isFull { await Task.yield() }
      await #expect(throws: WireError.self) {
        try await queue.run(asked: TestClock().now) { _ in 0 }
      }
      for _ in 0..<ExplanationQueue.explanationsMax { gate.signal() }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.sorted() == Array(0..<ExplanationQueue.explanationsMax))
    #expect(try await queue.run(asked: TestClock().now) { _ in 7 } == 7)
  }

  /// The command gives up after ten seconds, and an answer that it does not read is wasted.
  @Test func `an explanation whose turn comes too late is refused`() async throws {
    let clock = PassingClock()
    let queue = ExplanationQueue(clock: clock)
    let asked = clock.boot()
    clock.pass(ExplanationQueue.patience)
    let end = try await queue.run(asked: asked) { $0 }
    #expect(end == asked + ExplanationQueue.patience + ExplanationQueue.patience)
    clock.pass(.milliseconds(1))
    let error = await #expect(throws: WireError.self) {
      try await queue.run(asked: asked) { _ in 0 }
    }
    #expect(error?.code == .tryAgainLater)
    #expect(error?.retryAfterSeconds == 1)
  }
}
