import Foundation
import Synchronization

/// The threads of some hostile callers, from `start` until `end`.
///
/// They yield the cores to the daemon and to the well-behaved users: hostile callers have machines
/// of their own, and what their requests cost to write must not count as the daemon's slowness.
final class HostileCrowd {
  private let flag = StopFlag()
  private let group = DispatchGroup()
  let answers = HostileAnswers()

  /// Of all turns of a run: no two requests are the same.
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
          // Linux takes 0 for the calling thread alone; refused, it competes with the others.
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

  /// Returns when all threads have ended, a few seconds later at most.
  func end() async {
    flag.set()
    let group = group
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      group.notify(queue: .global()) { done.resume() }
    }
  }
}

/// Tells threads that their time is over.
final class StopFlag: Sendable {
  private let isOver = Atomic(false)
  func set() { isOver.store(true, ordering: .relaxed) }
  var isSet: Bool { isOver.load(ordering: .relaxed) }
}
