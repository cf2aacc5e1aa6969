import Glibc
import NIOCore
import NIOPosix

/// Chooses the event loops that accept connections and those that serve connections.
enum EventLoops {
  private static var all: [any EventLoop] {
    Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
  }

  /// The event loop that accepts connections for the loops that serve, and does nothing else. When
  /// the accepting loop also served thousands of connections, the kernel's queue of new connections
  /// overflowed, and a client then tried again a second later.
  static let accepting = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  /// The one event loop on which a listener with few clients accepts and serves connections.
  static var last: any EventLoop { all.last ?? MultiThreadedEventLoopGroup.singleton.any() }

  /// Assigns the sockets that share an address to the event loops in turn. The kernel has spread
  /// the connections over these sockets already, and each connection stays on the loop that
  /// accepted it.
  ///
  /// - Returns: nil if all loops should serve the socket's connections in turn.
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
