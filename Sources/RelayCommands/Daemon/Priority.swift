import Glibc
import NIOCore
import NIOPosix

/// How far a thread goes before others while all cores are busy, where the system allows it: root
/// may, others need `LimitNICE=`, as in the unit. The number is the thread's niceness.
enum Priority: Int32 {
  /// All requests wait for the engine: nine times the share of a core that an ordinary thread has.
  case engine = -10
  /// All requests and answers pass through the event loops, and so does what refuses a flood of
  /// connections: three times that share.
  case serving = -5

  /// Gives it to the calling thread alone: a thread that Dispatch starts from it sets its own. What
  /// it inherited from another counts no further.
  func take() { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, rawValue) }

  func give(to group: MultiThreadedEventLoopGroup) {
    for loop in group.makeIterator() { loop.execute { take() } }
  }
}
