package import RelayCore
package import RelayEngine
import RelayMemory
import Synchronization

/// The flight recorder in memory, for tests. A copy of its memory plays the file that a crash
/// leaves behind.
package final class MemoryRecorder: FlightRecorder, Sendable {
  private struct State {
    var trace: MemoryTrace
    var taken: UInt64 = 0
    /// Whether the recorder was closed, so that the next life knows that nothing is missing.
    var isWhole = false
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - most: how many entries are kept at least.
  ///   - before: the recorder of the life before.
  package init(most: Int = 100_000, after before: MemoryRecorder? = nil, at now: Instant = .zero) {
    var trace = before?.state.withLock { $0.trace } ?? MemoryTrace(most: most)
    let isWhole = before.map { $0.state.withLock { $0.isWhole } } ?? true
    trace.begin(at: now, isWhole: isWhole)
    state = Mutex(State(trace: trace))
  }

  package func record(_ entries: [TraceEntry]) {
    state.withLock { state in
      guard !state.isWhole else { return }
      state.trace.add(entries)
      state.taken += UInt64(entries.count)
    }
  }

  package var place: UInt64 { state.withLock { $0.taken } }

  package func read(
    through place: UInt64, _ body: @escaping @Sendable ([TraceEntry]) -> Bool
  ) async throws(TraceError) {
    let entries = state.withLock { state in
      state.trace.entries.dropLast(Int(clamping: state.taken - min(place, state.taken)))
    }
    if !entries.isEmpty { _ = body(Array(entries)) }
  }

  package var health: RecorderHealth {
    var health = RecorderHealth()
    health.recorded = place
    return health
  }

  package func close() async { state.withLock { $0.isWhole = true } }
}
