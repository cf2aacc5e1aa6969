package import RelayCore
import Synchronization

/// Entries as they are made, for one operator who follows them. An operator who reads too slowly
/// misses entries and is told how many; the relay never waits.
package final class TraceTail: Sendable {
  /// Entries that wait for the operator at most.
  package static let waitingMax = 10_000

  /// What the operator gets next.
  package struct Part: Hashable, Sendable {
    package var entries: [TraceEntry] = []
    /// Entries that were left out after these, because too many waited.
    package var missed = 0
  }

  /// What waits for the operator, as the core made it. The reader makes entries of it, so that the
  /// loop does not have to.
  private struct Waiting {
    var batches: [TraceBatch] = []
    var count = 0
    var missed = 0

    mutating func add(_ batch: TraceBatch) {
      guard missed == 0, count + batch.count <= TraceTail.waitingMax else {
        missed += batch.count
        return
      }
      batches.append(batch)
      count += batch.count
    }

    var part: Part { Part(entries: batches.flatMap(\.entries), missed: missed) }
  }

  private struct State {
    var waiting = Waiting()
    var waiter: CheckedContinuation<Waiting?, Never>?
    var isEnded = false
    var onEnd: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  init() {}

  /// Calls `body` once, when the tail has ended: at once if it has. A caller that still writes what
  /// it got from `next` learns of the end by this alone.
  package func onEnd(_ body: @escaping @Sendable () -> Void) {
    let isEnded = state.withLock { state in
      if !state.isEnded { state.onEnd = body }
      return state.isEnded
    }
    if isEnded { body() }
  }

  /// Called by the loop.
  func add(_ batches: [TraceBatch]) {
    let answer = state.withLock { state -> (CheckedContinuation<Waiting?, Never>, Waiting)? in
      if state.isEnded { return nil }
      for batch in batches { state.waiting.add(batch) }
      guard let waiter = state.waiter.take() else { return nil }
      defer { state.waiting = Waiting() }
      return (waiter, state.waiting)
    }
    answer?.0.resume(returning: answer?.1)
  }

  /// The next entries, as soon as there are any; `nil` once the tail has ended. One call at a time.
  package func next() async -> Part? {
    let waiting = await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: CheckedContinuation<Waiting?, Never>) in
        let answer = state.withLock { state -> Waiting?? in
          if state.waiting.count > 0 || state.waiting.missed > 0 {
            defer { state.waiting = Waiting() }
            return .some(state.waiting)
          }
          if state.isEnded { return .some(nil) }
          state.waiter = waiter
          return nil
        }
        if let answer { waiter.resume(returning: answer) }
      }
    } onCancel: {
      end()
    }
    return waiting?.part
  }

  /// Gives an empty part to a waiting `next`, so that its caller can look at its connection.
  package func poke() {
    let waiter = state.withLock { $0.waiter.take() }
    waiter?.resume(returning: Waiting())
  }

  /// Ends the tail: what waits is still given, and then `nil`.
  package func end() {
    let (waiter, onEnd) = state.withLock { state in
      state.isEnded = true
      return (state.waiter.take(), state.onEnd.take())
    }
    waiter?.resume(returning: nil)
    onEnd?()
  }
}

/// Hands the entries of each turn to the flight recorder and to the operators who follow them.
package final class TraceFeed: Sendable {
  /// Operators who may follow at the same time.
  package static let tailsMax = 8

  /// `nil` if the configuration switches the recorder off. Then nobody can follow either, because
  /// the core makes no entries.
  package let recorder: (any FlightRecorder)?
  private let tails = Mutex<(open: [UInt64: TraceTail], last: UInt64, isEnded: Bool)>(
    ([:], 0, false))

  package init(recorder: (any FlightRecorder)?) { self.recorder = recorder }

  func begin(life: UInt64) { recorder?.begin(life: life) }

  func record(_ batches: [TraceBatch]) {
    recorder?.record(batches)
    let open = tails.withLock { Array($0.open.values) }
    for tail in open { tail.add(batches) }
  }

  /// Follows the entries until `body` returns or the feed ends.
  ///
  /// - Throws: `TraceError` if too many operators follow already, or the recorder is off.
  package func follow<Outcome>(
    _ body: (TraceTail) async throws -> Outcome
  ) async throws -> Outcome {
    let (key, tail) = try open()
    defer { tails.withLock { $0.open[key] = nil } }
    return try await body(tail)
  }

  private func open() throws(TraceError) -> (UInt64, TraceTail) {
    guard recorder != nil else {
      throw TraceError(.off, "trace.size is 0: the relay makes no entries; set it and restart")
    }
    let tail = TraceTail()
    let key = tails.withLock { tails -> UInt64? in
      guard tails.open.count < Self.tailsMax else { return nil }
      tails.last += 1
      tails.open[tails.last] = tail
      if tails.isEnded { tail.end() }
      return tails.last
    }
    guard let key else {
      throw TraceError(
        .busy, "\(Self.tailsMax) operators follow the entries already; end one of them")
    }
    return (key, tail)
  }

  /// How many operators follow now.
  package var tailCount: Int { tails.withLock { $0.open.count } }

  /// The daemon stops: ends all tails.
  package func end() {
    let open = tails.withLock { tails in
      tails.isEnded = true
      return Array(tails.open.values)
    }
    for tail in open { tail.end() }
  }
}
