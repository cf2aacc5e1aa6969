import Foundation
import Synchronization

/// Samples the resident memory of a program four times a second, on a thread of its own.
final class ProcessWatch: Sendable {
  private let threads = RepeatingThreads()
  private let most = Mutex(0.0)

  init(_ child: Child) {
    threads.start { [self] in
      // A program that has ended uses no memory; the phase itself detects the end.
      if let resident = try? Memory.resident(of: child) { most.withLock { $0 = max($0, resident) } }
      Thread.sleep(forTimeInterval: 0.25)
    }
  }

  /// - Returns: the largest sample, in MiB.
  func end() async -> Double {
    await threads.end()
    return most.withLock { $0 }
  }
}
