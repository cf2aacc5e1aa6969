import Glibc
import NIOCore
import NIOPosix

/// A thread's priority while all cores are busy. Root may raise a priority; other users need
/// `LimitNICE=`, which the systemd unit sets. The number is the thread's niceness.
enum Priority: Int32 {
  /// Nine times an ordinary thread's share of a CPU, because all requests wait for the engine.
  case engine = -10
  /// Three times an ordinary thread's share of a CPU, because the event loops run all requests and
  /// answers, and the code that refuses a flood of connections.
  case serving = -5

  /// Sets the priority of the calling thread only, in place of the priority that the thread has
  /// inherited. A thread that Dispatch starts from the calling thread inherits this priority, so
  /// that thread must set a priority of its own.
  func take() { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, rawValue) }

  func give(to group: MultiThreadedEventLoopGroup) {
    for loop in group.makeIterator() { loop.execute { take() } }
  }
}
