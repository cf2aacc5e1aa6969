import Foundation
import Synchronization

/// The threads of several hostile callers, from `start` until `end`.
///
/// The threads run at a low priority, because real hostile callers have machines of their own: the
/// cost of writing their requests must not count as the daemon's slowness.
struct HostileCrowd {
  private let threads = RepeatingThreads()
  let answers = HostileAnswers()

  /// Counts the turns of all threads, so that no two requests of a run are the same.
  private static let numbers = Atomic(0)
  private static let niceness: Int32 = 10

  func start(_ callers: [HostileCaller], port: Int) {
    for caller in callers {
      for _ in 0..<caller.threads {
        threads.start {
          // On Linux 0 means the calling thread alone. If the call fails, the thread has normal
          // priority.
          _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
        } _: { [answers, stop = threads.stop] in
          let number = Self.numbers.add(1, ordering: .relaxed).newValue
          caller.turn(
            HostileTurn(
              port: port, number: number, answers: answers, name: caller.name,
              isOver: { stop.isSet }))
        }
      }
    }
  }

  /// Stops the threads, and returns when all of them have ended, after a few seconds at most.
  func end() async { await threads.end() }
}
