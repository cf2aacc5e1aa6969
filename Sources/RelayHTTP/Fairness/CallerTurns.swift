import DequeModule
import Synchronization

/// Places for work that all callers share. Callers whose work waits for a place take turns: each
/// waits for at most one piece of work of each other caller, beside what runs already.
final class CallerTurns: Sendable {
  private struct State {
    var running = 0
    var waiting: [CallerID: Deque<CheckedContinuation<Void, Never>>] = [:]
    /// Those who wait; the first is next.
    var order: Deque<CallerID> = []
  }

  private let places: Int
  private let state = Mutex(State())

  init(places: Int) { self.places = places }

  /// Pieces of work that wait: as many as requests under way at most.
  var waiting: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

  /// Does the work when it is the caller's turn: at once while a place is free.
  func work<Value, Failure: Error>(
    for caller: CallerID, _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await enter(caller)
    defer { leave() }
    return try await work()
  }

  private func enter(_ caller: CallerID) async {
    guard !state.withLock({ takeFree(in: &$0) }) else { return }
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard !takeFree(in: &state) else { return true }
        if state.waiting[caller] == nil { state.order.append(caller) }
        state.waiting[caller, default: []].append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  private func takeFree(in state: inout State) -> Bool {
    guard state.running < places else { return false }
    state.running += 1
    return true
  }

  /// Hands the place on.
  private func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let caller = state.order.popFirst() else {
        state.running -= 1
        return nil
      }
      let next = state.waiting[caller]?.popFirst()
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
