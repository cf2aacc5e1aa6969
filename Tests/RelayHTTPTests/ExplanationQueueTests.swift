import Dispatch
import Testing

@testable import RelayHTTP

/// Explanations are computed beside the threads that answer devices, and only some wait.
@Suite struct ExplanationQueueTests {
  @Test func `a fifth explanation is refused, and the four before it are answered`() async throws {
    let queue = ExplanationQueue()
    let gate = DispatchSemaphore(value: 0)
    let answers = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<ExplanationQueue.explanationsMax {
        group.addTask {
          try await queue.run {
            gate.wait()
            return number
          }
        }
      }
      while !queue.isFull { await Task.yield() }
      await #expect(throws: WireError.self) { try await queue.run { 0 } }
      for _ in 0..<ExplanationQueue.explanationsMax { gate.signal() }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.sorted() == Array(0..<ExplanationQueue.explanationsMax))
    #expect(try await queue.run { 7 } == 7)
  }
}
