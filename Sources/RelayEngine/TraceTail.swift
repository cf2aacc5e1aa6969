package import RelayCore
import Synchronization

/// Entries as they are made, for one operator who follows them. An operator who reads too slowly
/// misses entries and is told how many; the relay never waits.
package final class TraceTail: Sendable {
  /// The most entries that wait for the operator.
  package static let waitingMax = 10_000

  /// What the operator gets next.
  package struct Part: Hashable, Sendable {
    package var entries: [TraceEntry] = []
    /// How many entries were left out after `entries`, because too many entries waited.
    package var missed = 0
  }

  /// The batches that wait for the operator, as the core made them. The reader of the tail decodes
  /// the batches into entries, so that the loop need not do this work.
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

  /// Calls `body` once: when the tail ends, or at once if the tail has ended already. While a
  /// caller still writes the entries that `next` returned, only `body` tells the caller of the end.
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

  /// Makes a waiting call of `next` return an empty part, so that the caller can check its
  /// connection.
  package func poke() {
    let waiter = state.withLock { $0.waiter.take() }
    waiter?.resume(returning: Waiting())
  }

  /// Ends the tail: `next` still returns the entries that wait, and then `nil`.
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
  /// The most operators who may follow the entries at the same time.
  package static let tailsMax = 8

  /// `nil` if the configuration switches the recorder off. Then no operator can follow the entries,
  /// because the core makes none.
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
  /// - Throws: `TraceError` if too many operators follow the entries already, or the recorder is
  ///   off.
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

  /// How many operators follow the entries now.
  package var tailCount: Int { tails.withLock { $0.open.count } }

  /// Ends all tails, because the daemon stops.
  package func end() {
    let open = tails.withLock { tails in
      tails.isEnded = true
      return Array(tails.open.values)
    }
    for tail in open { tail.end() }
  }
}
