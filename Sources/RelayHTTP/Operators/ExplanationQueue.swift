import Dispatch
import RelayCore
import RelayEngine
import Synchronization

/// Computes explanations one after the other, on a thread of its own: they may take seconds, and
/// the threads that answer devices and producers must not wait for them.
final class ExplanationQueue: Sendable {
  /// How many explanations are computed or wait for their turn at most.
  static let explanationsMax = 4
  /// How long after the question an explanation begins at the latest, and for how long it is
  /// computed. The command waits for ten seconds.
  static let patience = Span.seconds(4)

  private let queue = DispatchQueue(label: "zonerelay.explaining")
  private let clock: any ClockReader
  private let count = Mutex(0)

  init(clock: any ClockReader) { self.clock = clock }

  var isFull: Bool { count.withLock { $0 >= Self.explanationsMax } }

  /// - Parameters:
  ///   - asked: when the question came, by the time since boot.
  ///   - make: gets the time at which the answer must be ready.
  /// - Throws: `WireError` with 503 if too many explanations wait, or if those before this one took
  ///   too long.
  func run<Answer: Sendable>(
    asked: Instant, _ make: @escaping @Sendable (_ end: Instant) -> Answer
  ) async throws(WireError) -> Answer {
    let hasRoom = count.withLock { count in
      guard count < Self.explanationsMax else { return false }
      count += 1
      return true
    }
    guard hasRoom else {
      throw WireError(
        .tryAgainLater,
        "\(Self.explanationsMax) explanations are being made already; try again in a moment",
        retryAfterSeconds: 1)
    }
    defer { count.withLock { $0 -= 1 } }
    let answer = await withCheckedContinuation {
      (waiter: CheckedContinuation<Answer?, Never>) in
      queue.async {
        let now = self.clock.boot()
        let isLate = now > asked + Self.patience
        waiter.resume(returning: isLate ? nil : make(now + Self.patience))
      }
    }
    guard let answer else {
      throw WireError(
        .tryAgainLater,
        "the explanations before this one took more than \(Self.patience.milliseconds / 1_000) "
          + "seconds; try again in a moment", retryAfterSeconds: 1)
    }
    return answer
  }
}
