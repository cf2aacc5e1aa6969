import Synchronization
import Testing

@testable import RelayHTTP

/// A listener ends when all that it was asked is answered, and takes nothing after.
@Suite struct RequestTasksTests {
  @Test func `it is finished when the last request is answered`() async {
    let tasks = RequestTasks()
    let answered = Mutex(0)
    let (held, letGo) = AsyncStream.makeStream(of: Void.self)
    for _ in 0..<3 {
      let isTaken = tasks.start {
        for await _ in held {}
        answered.withLock { $0 += 1 }
      }
      #expect(isTaken)
    }
    #expect(tasks.count == 3)
    tasks.finish()
    #expect(!tasks.start {}, "nothing is taken any more")
    #expect(tasks.count == 3)
    letGo.finish()
    await tasks.finished()
    #expect(answered.withLock { $0 } == 3 && tasks.count == 0)
  }

  @Test func `without requests it is finished at once`() async {
    let tasks = RequestTasks()
    tasks.finish()
    await tasks.finished()
    #expect(tasks.count == 0)
  }

  @Test func `a cancelled listener ends what is being answered`() async {
    let tasks = RequestTasks()
    let isTaken = tasks.start {
      while !Task.isCancelled { await Task.yield() }
    }
    #expect(isTaken)
    tasks.cancel()
    await tasks.finished()
    #expect(!tasks.start {})
  }
}
