import Foundation
import Synchronization

/// The threads of several hostile callers, from `start` until `end`.
///
/// The threads run at a low priority, because real hostile callers have machines of their own: the
/// cost of writing their requests must not count as the daemon's slowness.
final class HostileCrowd {
  private let flag = StopFlag()
  private let group = DispatchGroup()
  let answers = HostileAnswers()

  /// Counts the turns of all threads, so that no two requests of a run are the same.
  private static let numbers = Atomic(0)
  private static let niceness: Int32 = 10

  func start(_ callers: [HostileCaller], port: Int) {
    let flag = flag
    let group = group
    let answers = answers
    for caller in callers {
      for _ in 0..<caller.threads {
        group.enter()
        Thread.detachNewThread {
          defer { group.leave() }
          // On Linux 0 means the calling thread alone. If the call fails, the thread has normal
          // priority.
          _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
          while !flag.isSet {
            let number = Self.numbers.add(1, ordering: .relaxed).newValue
            caller.turn(
              HostileTurn(
                port: port, number: number, answers: answers, name: caller.name,
                isOver: { flag.isSet }))
          }
        }
      }
    }
  }

  /// Stops the threads, and returns when all of them have ended, after a few seconds at most.
  func end() async {
    flag.set()
    let group = group
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      group.notify(queue: .global()) { done.resume() }
    }
  }
}

/// A flag that tells threads to stop.
final class StopFlag: Sendable {
  private let isOver = Atomic(false)
  func set() { isOver.store(true, ordering: .relaxed) }
  var isSet: Bool { isOver.load(ordering: .relaxed) }
}
