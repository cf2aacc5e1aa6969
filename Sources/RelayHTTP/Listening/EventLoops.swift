import Glibc
import NIOCore
import NIOPosix

/// Which of the process's event loops accept connections and serve them.
enum EventLoops {
  private static var all: [any EventLoop] {
    Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
  }

  /// Accepts for the loops that serve, and does nothing else. When the accepting loop also served
  /// thousands of connections, the kernel's queue of new connections overflowed, and a client then
  /// tried again a second later.
  static let accepting = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  /// For a listener with few clients: it accepts and serves on one loop.
  static var last: any EventLoop { all.last ?? MultiThreadedEventLoopGroup.singleton.any() }

  /// Assigns the sockets that share an address to the event loops in turn. The kernel has spread
  /// the connections already, and each stays on the loop that accepted it.
  ///
  /// - Returns: nil for a socket whose connections all loops serve by turns.
  static func group(for fd: Int32, at index: Int, of count: Int) -> (any EventLoopGroup)? {
    guard count > 1, isSharing(fd) else { return nil }
    let all = all
    return all[index % all.count]
  }

  /// Whether other sockets may have the same address (systemd's `ReusePort=yes`).
  private static func isSharing(_ fd: Int32) -> Bool {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &value, &length) == 0 && value != 0
  }
}
