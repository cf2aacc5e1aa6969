import Foundation
import Synchronization

/// Samples the resident memory of a program four times a second, on a thread of its own.
final class ProcessWatch {
  private let flag = StopFlag()
  private let group = DispatchGroup()
  private let most = MostSeen()

  private final class MostSeen: Sendable {
    private let value = Mutex(0.0)
    func see(_ seen: Double) { value.withLock { $0 = max($0, seen) } }
    var now: Double { value.withLock { $0 } }
  }

  init(_ child: Child) {
    let (flag, group, most) = (flag, group, most)
    group.enter()
    Thread.detachNewThread {
      defer { group.leave() }
      while !flag.isSet {
        // A program that has ended uses no memory; the phase itself detects the end.
        if let resident = try? Memory.resident(of: child) { most.see(resident) }
        Thread.sleep(forTimeInterval: 0.25)
      }
    }
  }

  /// - Returns: the largest sample, in MiB.
  func end() async -> Double {
    flag.set()
    let group = group
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      group.notify(queue: .global()) { done.resume() }
    }
    return most.now
  }
}
