import Glibc
import NIOCore
import NIOPosix

/// A thread's priority while all cores are busy, if the system permits it: root may raise it, other
/// users need `LimitNICE=`, as in the unit. The number is the thread's niceness.
enum Priority: Int32 {
  /// All requests wait for the engine: nine times the core share of an ordinary thread.
  case engine = -10
  /// All requests and answers, and the code that refuses a flood of connections, run on the event
  /// loops: three times the core share of an ordinary thread.
  case serving = -5

  /// Sets the calling thread's priority alone, in place of an inherited one. A thread that Dispatch
  /// starts from this thread must set its own.
  func take() { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, rawValue) }

  func give(to group: MultiThreadedEventLoopGroup) {
    for loop in group.makeIterator() { loop.execute { take() } }
  }
}
