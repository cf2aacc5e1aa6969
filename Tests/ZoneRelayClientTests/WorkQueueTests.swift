import Testing
@testable import ZoneRelayClient

@Suite struct WorkQueueTests {
  /// The macro `#expect` cannot call a mutating method.
  private func expect<Value: Equatable>(
    _ value: Value, _ expected: Value, at place: SourceLocation = #_sourceLocation
  ) {
    #expect(value == expected, sourceLocation: place)
  }

  @Test func `callers during a round share the next round`() {
    var queue = WorkQueue()
    let callers = (0..<4).map { _ in queue.newCaller() }
    expect(queue.fetch(callers[0]), true)
    expect(queue.next(), .round)
    for caller in callers[1...] {
      expect(queue.fetch(caller), false)
    }
    expect(queue.end(), [callers[0]])
    expect(queue.next(), .round)
    expect(queue.end(), Set(callers[1...]))
    expect(queue.next(), nil)
    expect(queue.fetch(callers[0]), true)
  }

  @Test func `callers share a round until it begins to fetch`() {
    var queue = WorkQueue()
    let callers = (0..<4).map { _ in queue.newCaller() }
    expect(queue.fetch(callers[0]), true)
    expect(queue.next(), .round)
    expect(queue.fetch(callers[1]), false)
    expect(queue.fetch(callers[2]), false)
    queue.leave(callers[0])
    queue.leave(callers[2])
    #expect(!queue.isWanted)
    queue.beginRound()
    #expect(queue.isWanted)
    expect(queue.fetch(callers[3]), false)
    expect(queue.end(), [callers[1]])
    expect(queue.next(), .round)
    expect(queue.end(), [callers[3]])
  }

  @Test func `a round that is being stopped takes no further callers`() {
    var queue = WorkQueue()
    let callers = (0..<3).map { _ in queue.newCaller() }
    expect(queue.fetch(callers[0]), true)
    expect(queue.next(), .round)
    expect(queue.call(callers[1], stopsOthers: true), false)
    expect(queue.fetch(callers[2]), false)
    queue.beginRound()
    expect(queue.end(), [callers[0]])
    expect(queue.next(), .call(callers[1]))
    expect(queue.end(), [])
    expect(queue.next(), .round)
    expect(queue.end(), [callers[2]])
  }

  @Test func `a call is no round that others could share`() {
    var queue = WorkQueue()
    let (calling, fetching) = (queue.newCaller(), queue.newCaller())
    expect(queue.call(calling, stopsOthers: false), true)
    expect(queue.next(), .call(calling))
    expect(queue.fetch(fetching), false)
    queue.beginRound()
    expect(queue.end(), [])
    expect(queue.next(), .round)
    expect(queue.end(), [fetching])
  }

  @Test func `calls come one by one, and before the next round`() {
    var queue = WorkQueue()
    let callers = (0..<3).map { _ in queue.newCaller() }
    expect(queue.fetch(callers[0]), true)
    expect(queue.call(callers[1], stopsOthers: false), false)
    expect(queue.call(callers[2], stopsOthers: false), false)
    expect(queue.next(), .call(callers[1]))
    expect(queue.end(), [])
    expect(queue.next(), .call(callers[2]))
    expect(queue.end(), [])
    expect(queue.next(), .round)
  }

  @Test func `a round is wanted until its last caller leaves`() {
    var queue = WorkQueue()
    let (first, second) = (queue.newCaller(), queue.newCaller())
    expect(queue.fetch(first), true)
    expect(queue.fetch(second), false)
    expect(queue.next(), .round)
    queue.leave(first)
    #expect(queue.isWanted)
    queue.leave(second)
    #expect(!queue.isWanted)
    expect(queue.end(), [])
  }

  @Test func `a call that stops the round makes it unwanted`() {
    var queue = WorkQueue()
    let (fetching, leaving) = (queue.newCaller(), queue.newCaller())
    expect(queue.fetch(fetching), true)
    expect(queue.next(), .round)
    expect(queue.call(leaving, stopsOthers: true), false)
    #expect(!queue.isWanted)
    expect(queue.end(), [fetching])
    expect(queue.next(), .call(leaving))
    #expect(queue.isWanted)
  }

  @Test func `a call that stops others leaves no earlier call wanted`() {
    var queue = WorkQueue()
    let (first, second, leaving) = (queue.newCaller(), queue.newCaller(), queue.newCaller())
    expect(queue.call(first, stopsOthers: false), true)
    expect(queue.call(second, stopsOthers: false), false)
    expect(queue.next(), .call(first))
    #expect(queue.isWanted)
    expect(queue.call(leaving, stopsOthers: true), false)
    #expect(!queue.isWanted)
    expect(queue.end(), [])
    expect(queue.next(), .call(second))
    #expect(!queue.isWanted)
    queue.leave(leaving)
    #expect(queue.isWanted)
  }

  @Test func `a caller that leaves in time is not run`() {
    var queue = WorkQueue()
    let (calling, fetching) = (queue.newCaller(), queue.newCaller())
    expect(queue.call(calling, stopsOthers: false), true)
    expect(queue.fetch(fetching), false)
    queue.leave(calling)
    queue.leave(fetching)
    expect(queue.next(), nil)
  }
}
