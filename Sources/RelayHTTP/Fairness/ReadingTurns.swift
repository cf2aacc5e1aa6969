import Foundation

/// Reads large bodies on threads of their own, half as many as there are cores. Without these
/// threads, reading a large body would block, for tens of milliseconds, one of the few threads that
/// all requests share. Callers whose large bodies wait take turns.
final class ReadingTurns: Sendable {
  private let largeBytes: Int
  private let turns: CallerTurns
  private let threads: ReadingThreads

  /// - Parameters:
  ///   - atOnce: large bodies that are read at the same time.
  ///   - largeBytes: a body of this many bytes or more is large.
  init(
    atOnce: Int = max(1, ProcessInfo.processInfo.activeProcessorCount / 2),
    largeBytes: Int = 64 << 10
  ) {
    self.largeBytes = largeBytes
    turns = CallerTurns(places: atOnce)
    threads = ReadingThreads(count: atOnce)
  }

  /// The number of large bodies that wait for their turn.
  var waiting: Int { turns.waiting }

  /// Does `work`, which reads a body of `bytes` bytes: at once if the body is small, otherwise when
  /// it is the caller's turn.
  func read<Value>(
    _ bytes: Int, of caller: CallerID, _ work: @escaping () throws -> Value
  ) async throws -> Value {
    guard bytes >= largeBytes else { return try work() }
    let value = try await turns.work(for: caller) { () async throws(any Error) in
      try await threads.run(work)
    }
    guard let value else { throw CancellationError() }
    return value
  }
}
