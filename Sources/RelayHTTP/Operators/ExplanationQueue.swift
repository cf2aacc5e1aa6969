import Dispatch
import Synchronization

/// Computes explanations one after the other, on a thread of its own: they may take seconds, and
/// the threads that answer devices and producers must not wait for them.
final class ExplanationQueue: Sendable {
  /// The most explanations that may be computed or wait for their turn at the same time.
  static let explanationsMax = 4

  private let queue = DispatchQueue(label: "zonerelay.explaining")
  private let count = Mutex(0)

  var isFull: Bool { count.withLock { $0 >= Self.explanationsMax } }

  /// - Parameters:
  ///   - isLate: called when the explanation's turn comes. If it returns true, nothing is computed,
  ///     because the operator would get the answer too late.
  /// - Throws: `WireError` with 503 if too many explanations wait, or this one waited for too long.
  func run<Answer: Sendable>(
    unless isLate: @escaping @Sendable () -> Bool, _ make: @escaping @Sendable () throws -> Answer
  ) async throws -> Answer {
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
    return try await withCheckedThrowingContinuation { continuation in
      queue.async {
        guard !isLate() else {
          return continuation.resume(
            throwing: WireError(
              .tryAgainLater, "the explanations before this one took too long; try again",
              retryAfterSeconds: 5))
        }
        continuation.resume(with: Result { try make() })
      }
    }
  }
}
