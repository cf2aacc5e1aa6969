import Foundation
import NIOCore
import NIOPosix

/// Watches the growth of the stand-in's push log: each new line is a push that has reached the
/// provider and is not answered yet.
final class PushTail: Sendable {
  private let file: Int32
  private let changes: Int32

  /// - Parameter path: the push log, which exists once the stand-in listens.
  init(_ path: String) throws {
    file = open(path, O_RDONLY | O_CLOEXEC)
    changes = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard file >= 0, changes >= 0,
      inotify_add_watch(changes, path, UInt32(IN_MODIFY)) >= 0
    else { throw BenchError("cannot follow \(path): \(String(cString: strerror(errno)))") }
  }

  deinit {
    close(file)
    close(changes)
  }

  /// Waits for `count` further pushes, on a thread of its own.
  ///
  /// - Returns: the time at which each push was seen, in order.
  func next(_ count: Int, within limit: Duration) async throws -> [NIODeadline] {
    try await NIOThreadPool.singleton.runIfActive { [self] in
      let deadline = ContinuousClock.now + limit
      var seen: [NIODeadline] = []
      while seen.count < count {
        let added = try added()
        if added > 0 {
          seen += [NIODeadline](repeating: .now(), count: added)
        } else {
          guard .now < deadline else {
            throw BenchError("\(seen.count) of \(count) pushes came within \(limit)")
          }
          wait()
        }
      }
      return seen
    }
  }

  /// The number of complete lines that were not counted yet.
  private func added() throws -> Int {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    var lines = 0
    while true {
      let got = read(file, &bytes, bytes.count)
      guard got >= 0 else { throw BenchError("pushes cannot be read: \(errno)") }
      if got == 0 { return lines }
      lines += bytes[..<got].count { $0 == UInt8(ascii: "\n") }
    }
  }

  /// Waits until the file has changed, or for 100 ms.
  private func wait() {
    var ready = pollfd(fd: changes, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, 100) > 0 else { return }
    var events = [UInt8](repeating: 0, count: 4_096)
    // The event's contents do not matter: new lines are read from the file itself.
    _ = read(changes, &events, events.count)
  }
}
