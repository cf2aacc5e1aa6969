import Foundation
import NIOCore
import RelayCore
import RelayEngine
import RelayPush
import Synchronization

/// A number of pushes: each verdict causes the next push, until all pushes have a verdict.
final class PushBatch: Sendable {
  private let sender: APNsSender
  private let count: Int
  private let expires: Instant
  /// Succeeds when every push has its verdict.
  private let done: EventLoopPromise<Void>
  private let state = Mutex(State())

  private struct State {
    var sent = 0
    var delivered = 0
    var answered = 0
    /// How often each verdict except `delivered` came.
    var others: [String: Int] = [:]
  }

  init(_ sender: APNsSender, count: Int, loop: any EventLoop) {
    (self.sender, self.count, done) = (sender, count, loop.makePromise())
    expires = Instant(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1_000)) + .hours(24)
  }

  /// Sends the pushes. Returns when every push has its verdict, or when the time is over.
  func fire(within limit: TimeAmount) async throws {
    let isOver = done.futureResult.eventLoop.scheduleTask(in: limit) { self.done.succeed() }
    defer { isOver.cancel() }
    for _ in 0..<min(EngineLoad.inFlightMax, count) { next() }
    try await done.futureResult.get()
  }

  private func next() {
    let number: Int? = state.withLock { state in
      guard state.sent < count else { return nil }
      state.sent += 1
      return state.sent
    }
    guard let number else { return }
    sender.send(PushWork.push(number, expires: expires)) { [self] in answered($0) }
  }

  private func answered(_ verdict: Verdict) {
    let isLast = state.withLock { state in
      state.answered += 1
      if verdict == .delivered {
        state.delivered += 1
      } else {
        state.others["\(verdict)", default: 0] += 1
      }
      return state.answered == count
    }
    next()
    if isLast { done.succeed() }
  }

  /// Throws unless every push has its verdict and every verdict is `delivered`.
  func check(_ status: EngineStatus) throws {
    let (answered, delivered, others) = state.withLock { ($0.answered, $0.delivered, $0.others) }
    guard answered == count else {
      throw BenchError("\(count - answered) of \(count) pushes never got a verdict: \(status)")
    }
    guard delivered == count else {
      throw BenchError("\(count - delivered) of \(count) pushes were not delivered: \(others)")
    }
  }
}
