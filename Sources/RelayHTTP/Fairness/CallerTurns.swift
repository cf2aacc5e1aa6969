import DequeModule
import RelayCore
import RelayEngine
import Synchronization

/// Places for work, which all callers share. Callers whose work waits for a place take turns: each
/// waits for the work that runs already, and then for at most one piece of work of each other
/// caller. No caller has more places than its share, even if further places are free.
final class CallerTurns: Sendable {
  fileprivate struct Waiter {
    var serial: UInt64
    /// The deadline of the wait, on the boot clock.
    var until: Instant
    /// Is resumed with true if the waiter gets a place, otherwise with false.
    var continuation: CheckedContinuation<Bool, Never>
  }

  fileprivate struct State {
    var running: Shares<CallerID>
    var waiting: [CallerID: Deque<Waiter>] = [:]
    /// Callers that wait and have less than their share; the first caller is next. While this queue
    /// holds a caller, no place is free.
    var order: Deque<CallerID> = []
    var last: UInt64 = 0
  }

  private let share: Int
  private let state: Mutex<State>

  /// - Parameter share: places that one caller may have; `nil` means all places.
  init(places: Int, share: Int? = nil) {
    self.share = share ?? places
    state = Mutex(State(running: Shares(most: places)))
  }

  /// The number of pieces of work that wait: at most as many as requests are under way.
  var waiting: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

  /// Does the work when it is the caller's turn: at once if a place is free and the caller has less
  /// than its share.
  ///
  /// - Parameter until: the deadline of the wait, on the boot clock. `expire` ends a wait whose
  ///   deadline has passed.
  /// - Returns: nil if the work got no place before the deadline, or the waiting task was
  ///   cancelled.
  func work<Value, Failure: Error>(
    for caller: CallerID, until: Instant = .never, _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value? {
    guard await enter(caller, until) else { return nil }
    defer { leave(caller) }
    return try await work()
  }

  /// Ends the wait of all work whose deadline has passed. Such work gets no place.
  func expire(at now: Instant) {
    let late = state.withLock { $0.take { $0.until <= now } }
    for waiter in late { waiter.continuation.resume(returning: false) }
  }

  /// - Returns: true if the caller has a place.
  private func enter(_ caller: CallerID, _ until: Instant) async -> Bool {
    let serial = state.withLock { state -> UInt64? in
      guard state.running.take(for: caller, share: share) != .taken else { return nil }
      state.last += 1
      return state.last
    }
    guard let serial else { return true }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = Waiter(serial: serial, until: until, continuation: continuation)
        let now = state.withLock { state -> Bool? in
          // This check runs under the lock. If the task is cancelled later, `onCancel` finds the
          // waiter.
          if Task.isCancelled { return false }
          return state.wait(waiter, of: caller, share: share) ? nil : true
        }
        if let now { continuation.resume(returning: now) }
      }
    } onCancel: {
      let gone = state.withLock { $0.take(from: [caller]) { $0.serial == serial } }
      for waiter in gone { waiter.continuation.resume(returning: false) }
    }
  }

  /// Gives the caller's place back, or passes the place to the next waiter if there is one.
  private func leave(_ caller: CallerID) {
    let next = state.withLock { state -> Waiter? in
      if state.running.taken(by: caller) == share, state.waiting[caller] != nil {
        state.order.append(caller)
      }
      state.running.giveBack(of: caller)
      return state.next(share: share)
    }
    next?.continuation.resume(returning: true)
  }
}

extension CallerTurns.State {
  /// - Returns: false if the caller need not wait, because a place was free and the caller now has
  ///   that place.
  fileprivate mutating func wait(
    _ waiter: CallerTurns.Waiter, of caller: CallerID, share: Int
  ) -> Bool {
    let answer = running.take(for: caller, share: share)
    guard answer != .taken else { return false }
    if waiting[caller] == nil, answer == .full { order.append(caller) }
    waiting[caller, default: []].append(waiter)
    return true
  }

  /// Gives a free place to the next waiter and returns that waiter; `nil` means that no waiting
  /// caller may have the place.
  fileprivate mutating func next(share: Int) -> CallerTurns.Waiter? {
    guard let caller = order.popFirst(), let next = waiting[caller]?.popFirst() else { return nil }
    if waiting[caller]?.isEmpty == true { waiting[caller] = nil }
    let answer = running.take(for: caller, share: share)
    precondition(answer == .taken, "who stands in the order has less than its share")
    if waiting[caller] != nil, running.taken(by: caller) < share { order.append(caller) }
    return next
  }

  /// Removes and returns the waiters for which `isGone` is true.
  ///
  /// - Parameter callers: the callers whose waiters are checked; `nil` means all callers.
  fileprivate mutating func take(
    from callers: [CallerID]? = nil, where isGone: (CallerTurns.Waiter) -> Bool
  ) -> [CallerTurns.Waiter] {
    var gone: [CallerTurns.Waiter] = []
    for caller in callers ?? Array(waiting.keys) {
      guard let line = waiting[caller] else { continue }
      let out = line.filter(isGone)
      guard !out.isEmpty else { continue }
      gone += out
      let rest = line.filter { !isGone($0) }
      waiting[caller] = rest.isEmpty ? nil : rest
      if rest.isEmpty { order.removeAll { $0 == caller } }
    }
    return gone
  }
}

extension CallerTurns {
  /// How often waiters whose deadline has passed are removed.
  private static let tick = Duration.milliseconds(500)

  /// Removes waiters whose deadline has passed, again and again until the task is cancelled.
  func run(_ clock: any ClockReader) async {
    // The sleep fails only if the task is cancelled, which happens when the listener has ended.
    while (try? await Task.sleep(for: Self.tick)) != nil { expire(at: clock.boot()) }
  }
}
