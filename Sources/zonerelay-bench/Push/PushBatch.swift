import Foundation
import RelayCore
import RelayEngine
import RelayPush
import Synchronization

/// A number of pushes: each verdict causes the next push, until all pushes have a verdict.
final class PushBatch: Sendable {
  private let sender: APNsSender
  private let work: PushWork
  private let count: Int
  private let expires: Instant
  private let state = Mutex(State())

  private struct State {
    var sent = 0
    var delivered = 0
    var answered = 0
    /// How often each other verdict came.
    var others: [String: Int] = [:]
    var waiter: CheckedContinuation<Void, Never>?
  }

  init(_ sender: APNsSender, work: PushWork, count: Int) {
    self.sender = sender
    self.work = work
    self.count = count
    expires = Instant(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1_000)) + .hours(24)
  }

  /// Sends the pushes. Returns when every push has its verdict, or when the time is over.
  func fire(within limit: Duration) async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask { [self] in
        await withCheckedContinuation { waiter in
          state.withLock { $0.waiter = waiter }
          for _ in 0..<min(EngineLoad.inFlightMax, count) { next() }
        }
        return true
      }
      group.addTask {
        try await ContinuousClock().sleep(for: limit)
        return false
      }
      defer { group.cancelAll() }
      if try await group.next() == false { giveUp() }
    }
  }

  private func next() {
    let number: Int? = state.withLock { state in
      guard state.sent < count else { return nil }
      state.sent += 1
      return state.sent
    }
    guard let number else { return }
    sender.send(work.push(number, expires: expires)) { [self] in answered($0) }
  }

  private func answered(_ verdict: Verdict) {
    let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
      state.answered += 1
      if verdict == .delivered {
        state.delivered += 1
      } else {
        state.others["\(verdict)", default: 0] += 1
      }
      return state.answered == count ? state.waiter.take() : nil
    }
    next()
    waiter?.resume()
  }

  private func giveUp() {
    state.withLock { $0.waiter.take() }?.resume()
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
