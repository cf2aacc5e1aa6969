import Dispatch
import Foundation
import Synchronization

/// Threads that repeat their work until `end`.
final class RepeatingThreads: Sendable {
  /// Set once the threads are to end. Work that waits then returns early.
  let stop = StopFlag()
  private let group = DispatchGroup()

  /// - Parameter begin: called once on the new thread, before its work.
  func start(begin: @escaping @Sendable () -> Void = {}, _ work: @escaping @Sendable () -> Void) {
    group.enter()
    Thread.detachNewThread { [self] in
      defer { group.leave() }
      begin()
      while !stop.isSet { work() }
    }
  }

  /// Stops the threads, and returns when all of them have ended.
  func end() async {
    stop.set()
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      group.notify(queue: .global()) { done.resume() }
    }
  }
}

/// A flag with which one thread tells other threads to stop.
final class StopFlag: Sendable {
  private let isOver = Atomic(false)
  func set() { isOver.store(true, ordering: .relaxed) }
  var isSet: Bool { isOver.load(ordering: .relaxed) }
}
