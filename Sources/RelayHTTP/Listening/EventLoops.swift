import Glibc
import NIOCore
import NIOPosix

/// Which of the process's event loops accept connections and serve them.
enum EventLoops {
  private static var all: [any EventLoop] {
    Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
  }

  /// Accepts for the loops that serve, and does nothing else: beside thousands of connections whose
  /// requests are read, the kernel's queue of new ones ran over, and a caller then tried again a
  /// second later.
  static let accepting = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  /// For a listener that few use: it accepts and serves on one.
  static var last: any EventLoop { all.last ?? MultiThreadedEventLoopGroup.singleton.any() }

  /// Sockets that share an address are dealt out to the event loops: the kernel has spread the
  /// connections already, and each stays where it was accepted.
  ///
  /// - Returns: nil for a socket that all loops serve, connections by turns.
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
