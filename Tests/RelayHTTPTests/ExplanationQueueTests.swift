import Dispatch
import HTTPTypes
import RelayCore
import RelayWire
import Testing

@testable import RelayHTTP

/// Explanations are computed on a thread that answers no device, and only a few explanations may
/// wait for it.
@Suite struct ExplanationQueueTests {
  @Test func `a fifth explanation is refused, and the four before it are answered`() async throws {
    let queue = ExplanationQueue()
    let gate = DispatchSemaphore(value: 0)
    let answers = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<ExplanationQueue.explanationsMax {
        group.addTask {
          try await queue.run(unless: { false }) {
            gate.wait()
            return number
          }
        }
      }
      while !queue.isFull { await Task.yield() }
      let refusal = await #expect(throws: WireError.self) {
        try await queue.run(unless: { false }) { 0 }
      }
      #expect(refusal?.status == .serviceUnavailable && refusal?.retryAfterSeconds == 1)
      for _ in 0..<ExplanationQueue.explanationsMax { gate.signal() }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.sorted() == Array(0..<ExplanationQueue.explanationsMax))
    #expect(try await queue.run(unless: { false }) { 7 } == 7)
  }

  /// The operator would not wait for the answer any more.
  @Test func `an explanation whose turn comes too late is refused, and not computed`() async throws
  {
    let queue = ExplanationQueue()
    let refusal = await #expect(throws: WireError.self) {
      try await queue.run(unless: { true }) { Issue.record("it was computed") }
    }
    #expect(refusal?.status == .serviceUnavailable && refusal?.retryAfterSeconds == 5)
    #expect(try await queue.run(unless: { false }) { 7 } == 7)
  }

  /// The time until an answer has three parts: the read of the entries, the explanations that wait
  /// in front of this one, and this explanation itself.
  @Test func `the command waits longer than the daemon takes`() {
    let others = Span(milliseconds: Int64(ExplanationQueue.explanationsMax - 1) * 4_000)
    let turn = ExplanationTimes.reading + others
    #expect(ExplanationTimes.explaining == .seconds(4) && turn <= ExplanationTimes.beginning)
    // The time is looked at before each explanation, so the last one may take longer than
    // `explaining`. Two seconds are for that, and for the answer's text.
    let end = ExplanationTimes.beginning + ExplanationTimes.explaining + .seconds(2)
    #expect(Duration.milliseconds(end.milliseconds) <= ExplainReport.answeredWithin)
    #expect(ExplainReport.answeredWithin + .seconds(5) <= ExplainReport.commandWaits)
  }
}
