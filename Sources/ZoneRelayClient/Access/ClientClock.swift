internal import Foundation

/// The client's source of the time and of random numbers. Tests have a source of their own, so that
/// they need not wait.
protocol ClientClock: Sendable {
  /// The time since any fixed moment; never goes back.
  var now: Duration { get }
  /// The wall clock.
  var date: Date { get }
  /// A random number from 0 to 1.
  var chance: Double { get }
  /// - Throws: `CancellationError` if the task is cancelled.
  func sleep(for time: Duration) async throws
}

struct SystemClientClock: ClientClock {
  private let start = ContinuousClock.now

  var now: Duration { ContinuousClock.now - start }
  var date: Date { Date() }
  var chance: Double { .random(in: 0...1) }
  func sleep(for time: Duration) async throws { try await Task.sleep(for: time) }
}
