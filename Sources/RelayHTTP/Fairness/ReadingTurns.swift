import Foundation
import Synchronization

/// Reading a large body takes a thread for tens of milliseconds, and requests share as many threads
/// as there are cores. Large bodies have threads of their own, half as many, so that the others
/// stay free for what is short; callers whose large bodies wait take turns.
final class ReadingTurns: Sendable {
  private struct State {
    var running = 0
    var waiting: [CallerID: [CheckedContinuation<Void, Never>]] = [:]
    /// Those with a body that waits; the first one's turn it is.
    var order: [CallerID] = []
  }

  private let atOnce: Int
  private let largeBytes: Int
  private let threads: ReadingThreads
  private let state = Mutex(State())

  /// - Parameters:
  ///   - atOnce: large bodies that are read at one moment.
  ///   - largeBytes: a body of so many bytes is large.
  init(
    atOnce: Int = max(1, ProcessInfo.processInfo.activeProcessorCount / 2),
    largeBytes: Int = 64 << 10
  ) {
    self.atOnce = atOnce
    self.largeBytes = largeBytes
    threads = ReadingThreads(count: atOnce)
  }

  /// Large bodies that wait for their turn: as many as bodies in flight at most.
  var waiting: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

  /// Does the work, at once if the body is small, else when it is its caller's turn.
  func read<Value>(
    _ bytes: Int, of caller: CallerID, _ work: @escaping () throws -> Value
  ) async throws -> Value {
    guard bytes >= largeBytes else { return try work() }
    await enter(caller)
    defer { leave() }
    return try await threads.run(work)
  }

  private func enter(_ caller: CallerID) async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.running >= atOnce else {
          state.running += 1
          return true
        }
        if state.waiting[caller] == nil { state.order.append(caller) }
        state.waiting[caller, default: []].append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  /// Hands the place on.
  private func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.order.isEmpty else {
        state.running -= 1
        return nil
      }
      let caller = state.order.removeFirst()
      let next = state.waiting[caller]?.removeFirst()
      if state.waiting[caller]?.isEmpty == true {
        state.waiting[caller] = nil
      } else {
        state.order.append(caller)
      }
      return next
    }
    next?.resume()
  }
}
