import RelayCore
import Testing

@testable import RelayTrace

/// What waits for the recorder's file is bounded in entries and bytes, and numbered without a hole.
@Suite struct WaitingFramesTests {
  private static func entries(_ frames: [WaitingFrames.Frame]) throws -> [TraceEntry] {
    try frames.flatMap { frame in
      var reader = EntryReader(frame.payload)
      return try reader.entries(frame.count)
    }
  }

  private static func lines(_ frames: [WaitingFrames.Frame]) throws -> [String] {
    try entries(frames).map { entry in
      switch entry.event {
      case .change(let change): "\(change.notification.low)"
      case .lost(let count): "lost \(count ?? 0)"
      default: "?"
      }
    }
  }

  @Test func `a batch without room is dropped whole, and a smaller one may still come`() throws {
    var waiting = WaitingFrames(entriesMax: 3, bytesMax: 1 << 20)
    waiting.add([TraceBatch]())
    waiting.add([Sample.entry(1), Sample.entry(2)])
    waiting.add([Sample.entry(3), Sample.entry(4)])
    waiting.add([Sample.entry(5), Sample.entry(6), Sample.entry(7)])
    #expect(waiting.taken == 3 && waiting.count == 3 && waiting.lost == 5)
    let first = waiting.take()
    #expect(try Self.lines(first.frames) == ["1", "2", "lost 5"] && first.first == 0)
    waiting.add([Sample.entry(8), Sample.entry(9), Sample.entry(10), Sample.entry(11)])
    waiting.add([Sample.entry(12)])
    #expect(waiting.taken == 5 && waiting.lost == 9)
    let second = waiting.take()
    #expect(try Self.lines(second.frames) == ["lost 4", "12"] && second.first == 3)
    let third = waiting.take()
    #expect(third.frames.isEmpty && third.first == 5 && waiting.count == 0)
  }

  @Test func `a quarter of either bound asks for a write`() throws {
    var many = WaitingFrames(entriesMax: 8, bytesMax: 1 << 20)
    many.add([Sample.entry(1)])
    #expect(!many.isManyOrLarge)
    many.add([Sample.entry(2)])
    #expect(many.isManyOrLarge)
    _ = many.take()
    #expect(!many.isManyOrLarge)

    var large = WaitingFrames(entriesMax: 1 << 20, bytesMax: 80_000)
    for number in 1...1_000 where !large.isManyOrLarge { large.add([Sample.entry(UInt64(number))]) }
    #expect(large.isManyOrLarge && large.lost == 0)
  }

  @Test func `entries are dropped when they take too many bytes, though few wait`() throws {
    var waiting = WaitingFrames(entriesMax: 1 << 20, bytesMax: 40_000)
    for number in 1...5_000 { waiting.add([Sample.entry(UInt64(number))]) }
    let frames = waiting.take().frames
    let bytes = frames.reduce(0) { $0 + $1.payload.count }
    #expect(bytes > 30_000 && bytes < 42_000 && waiting.lost > 1_000)
    let lines = try Self.lines(frames)
    #expect(lines.last == "lost \(waiting.lost)")
    #expect(lines.count - 1 + Int(waiting.lost) == 5_000)
    waiting.add([Sample.entry(1)])
    #expect(try Self.lines(waiting.take().frames) == ["1"], "what was taken leaves room")
  }

  @Test func `frames follow each other without a hole`() throws {
    var waiting = WaitingFrames(entriesMax: 1 << 20, bytesMax: 1 << 24)
    var next: UInt64 = 0
    for round in 0..<3 {
      for number in 0..<2_000 { waiting.add([Sample.entry(UInt64(round * 2_000 + number))]) }
      let taken = waiting.take()
      #expect(taken.frames.count > 1 && taken.first == next)
      for frame in taken.frames {
        #expect(frame.first == next && frame.payload.count <= RingLayout.payloadMax)
        next += UInt64(frame.count)
      }
    }
    #expect(next == 6_000 && waiting.taken == 6_000)
  }
}

extension WaitingFrames {
  fileprivate mutating func add(_ entries: [TraceEntry]) { add(TraceBatch.of(entries)) }
}
