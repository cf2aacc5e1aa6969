import RelayCore
import RelayTrace
import Synchronization
import Testing

@testable import RelayEngine

/// Operators who follow the entries.
@Suite struct TraceTailTests {
  private static func entries(_ range: ClosedRange<Int>) -> [TraceEntry] {
    range.map { Sample.entry(UInt64($0)) }
  }

  @Test func `a tail gives what was made since it began, and ends with the feed`() async throws {
    let feed = TraceFeed(recorder: MemoryRecorder())
    feed.record(Self.entries(1...2))
    try await feed.follow { tail in
      feed.record(Self.entries(3...4))
      #expect(await tail.next()?.entries == Self.entries(3...4))
      async let waiting = tail.next()
      feed.record(Self.entries(5...5))
      #expect(await waiting?.entries == Self.entries(5...5))
      feed.record(Self.entries(6...6))
      feed.end()
      #expect(await tail.next()?.entries == Self.entries(6...6))
      #expect(await tail.next() == nil)
    }
    #expect(feed.tailCount == 0)
  }

  @Test func `the end is told once to a reader that still writes what it got`() async throws {
    let feed = TraceFeed(recorder: MemoryRecorder())
    let told = EntryBox()
    try await feed.follow { tail in
      tail.onEnd { told.add(Self.entries(1...1)) }
      feed.record(Self.entries(2...2))
      #expect(told.all.isEmpty)
      feed.end()
      tail.end()
      #expect(told.all.count == 1)
      tail.onEnd { told.add(Self.entries(3...3)) }
      #expect(told.all.count == 2)
    }
  }

  /// Fixed limit: entries that wait for one tail
  @Test func `a tail that reads too slowly is told how much it missed`() async throws {
    let most = TraceTail.waitingMax
    for count in [most - 1, most, most + 1] {
      let tail = TraceTail()
      tail.add(Self.entries(1...most - 2))
      tail.add(Self.entries(most - 1...count))
      let part = try #require(await tail.next())
      #expect(part.missed == (count > most ? 3 : 0))
      #expect(part.entries.count == (count > most ? most - 2 : count))
      tail.add(Self.entries(1...1))
      #expect(await tail.next() == TraceTail.Part(entries: Self.entries(1...1)))
    }
  }

  /// Fixed limit: tails at one moment
  @Test func `tails beyond the bound are refused`() async throws {
    let feed = TraceFeed(recorder: MemoryRecorder())
    func open(_ count: Int) async throws {
      guard count > 0 else { return }
      try await feed.follow { _ in try await open(count - 1) }
    }
    for count in [TraceFeed.tailsMax - 1, TraceFeed.tailsMax] { try await open(count) }
    await #expect(throws: TraceError.self) { try await open(TraceFeed.tailsMax + 1) }
    #expect(feed.tailCount == 0)
  }

  @Test func `a tail calls each end handler once, also one that is set after the end`() {
    let tail = TraceTail()
    let ends = Mutex(0)
    tail.onEnd { ends.withLock { $0 += 1 } }
    tail.end()
    tail.end()
    #expect(ends.withLock { $0 } == 1)
    tail.onEnd { ends.withLock { $0 += 1 } }
    #expect(ends.withLock { $0 } == 2)
  }

  @Test func `a feed without a recorder has no tails`() async {
    let feed = TraceFeed(recorder: nil)
    feed.record(Self.entries(1...1))
    await #expect(throws: TraceError.self) { try await feed.follow { _ in } }
  }
}

extension TraceFeed {
  fileprivate func record(_ entries: [TraceEntry]) { record(TraceBatch.of(entries)) }
}

extension TraceTail {
  fileprivate func add(_ entries: [TraceEntry]) { add(TraceBatch.of(entries)) }
}
