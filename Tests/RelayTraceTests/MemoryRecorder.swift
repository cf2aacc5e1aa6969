import RelayCore
import RelayEngine
import RelayMemory
import Synchronization

/// A flight recorder in memory. The recorder of the next life begins with a copy of this memory, as
/// it would begin with the file that a crash leaves.
final class MemoryRecorder: FlightRecorder, Sendable {
  private struct State {
    var trace: MemoryTrace
    var taken: UInt64 = 0
    var life: UInt64 = 0
    /// The life that was closed, so that the next one knows that nothing is missing.
    var closed: UInt64?
  }

  private let state: Mutex<State>
  private let before: MemoryRecorder?
  private let start: Instant

  /// - Parameters:
  ///   - most: the number of newest entries that it keeps; it may keep up to twice as many.
  ///   - before: the recorder of the life before.
  init(most: Int = 100_000, after before: MemoryRecorder? = nil, at now: Instant = .zero) {
    (self.before, start) = (before, now)
    state = Mutex(State(trace: MemoryTrace(most: most)))
  }

  func begin(life: UInt64) {
    let (old, closed) = before?.state.withLock { ($0.trace, $0.closed) } ?? (nil, life &- 1)
    state.withLock { state in
      if let old { state.trace = old }
      state.life = life
      state.trace.begin(at: start, isWhole: closed.map { $0 &+ 1 == life } ?? false)
    }
  }

  func record(_ batches: [TraceBatch]) {
    let entries = batches.flatMap(\.entries)
    state.withLock { state in
      guard state.closed == nil else { return }
      state.trace.add(entries)
      state.taken += UInt64(entries.count)
    }
  }

  var place: UInt64 { state.withLock { $0.taken } }

  func read(
    through place: UInt64, _ body: @escaping @Sendable ([TraceEntry]) -> Bool
  ) async throws(TraceError) {
    let entries = state.withLock { state in
      state.trace.entries.dropLast(Int(clamping: state.taken - min(place, state.taken)))
    }
    if !entries.isEmpty { _ = body(Array(entries)) }
  }

  var health: RecorderHealth {
    var health = RecorderHealth()
    health.recorded = place
    return health
  }

  func close() async { state.withLock { $0.closed = $0.life } }
}
