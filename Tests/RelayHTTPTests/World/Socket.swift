import Foundation
import Glibc
import Synchronization

/// A plain client socket: what a stranger's program would do. Its calls block: make them inside
/// `stranger`, on a thread of their own.
final class Socket: Sendable {
  let fd: Int32
  private let unread = Mutex<[UInt8]>([])

  /// - Parameter room: how many bytes the kernel keeps for a reader that does not read, nearly;
  ///   nil: as many as it likes.
  init?(port: Int, room: Int32? = nil) {
    fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let fd = fd
    if var room {
      setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    }
    guard Self.withLoopback(port, { connect(fd, $0, $1) == 0 }) else { return nil }
    setPatience()
  }

  init?(path: String) {
    fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { return nil }
    setPatience()
  }

  deinit { close(fd) }

  /// A test that waits for what never comes fails, and does not hang.
  private func setPatience() {
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(
      fd, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  /// - Returns: how many bytes the other side or the kernel took.
  @discardableResult
  func send(_ text: String) -> Int {
    let bytes = Array(text.utf8)
    return bytes.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = Glibc.send(
          fd, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
        guard count > 0 else { break }
        sent += count
      }
      return sent
    }
  }

  /// From now on sending ends once nothing was taken for so long.
  func losePatience(milliseconds: Int) {
    var patience = timeval(tv_sec: 0, tv_usec: milliseconds * 1_000)
    setsockopt(
      fd, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Until it is so, or for a minute.
  static func wait(for isTrue: () -> Bool) {
    let end = ContinuousClock.now + .seconds(60)
    while !isTrue(), ContinuousClock.now < end { sched_yield() }
  }

  /// Whether there is something to receive, if it comes within so long.
  func hears(withinMilliseconds time: Int32) -> Bool {
    var asked = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
    return poll(&asked, 1, time) > 0
  }

  /// Everything until the other side closes or says nothing for a minute, or up to and with `end`:
  /// what came behind it is for the next call.
  func receive(until end: String? = nil) -> String {
    unread.withLock { unread in
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        if let end, let range = unread.firstRange(of: Array(end.utf8)) {
          let text = String(decoding: unread[..<range.upperBound], as: UTF8.self)
          unread.removeSubrange(..<range.upperBound)
          return text
        }
        let count = read(fd, &buffer, buffer.count)
        guard count > 0 else { break }
        unread += buffer[..<count]
      }
      defer { unread = [] }
      return String(decoding: unread, as: UTF8.self)
    }
  }

  /// A listening socket of the kernel's choosing, as systemd would hand it over.
  static func bound(port: Int = 0, isSharing: Bool = false) -> (fd: Int32, port: Int) {
    let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var value: Int32 = isSharing ? 1 : 0
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &value, socklen_t(MemoryLayout<Int32>.size))
    withLoopback(port) { _ = bind(fd, $0, $1) }
    _ = listen(fd, 16)
    return (fd, port == 0 ? Self.port(of: fd) : port)
  }

  private static func withLoopback<Result>(
    _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var hints = addrinfo()
    hints.ai_family = AF_INET
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo("127.0.0.1", String(port), &hints, &found) == 0, let found else {
      preconditionFailure("127.0.0.1:\(port) is an address")
    }
    defer { freeaddrinfo(found) }
    return body(found.pointee.ai_addr, found.pointee.ai_addrlen)
  }

  /// By way of text: whose the members of `sockaddr_in` are, the C library's or NIO's, depends on
  /// which of the two the compiler has met first.
  private static func port(of fd: Int32) -> Int {
    var name = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var text = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = getsockname(fd, $0, &length)
        _ = getnameinfo(
          $0, length, nil, 0, &text, socklen_t(text.count), Int32(NI_NUMERICSERV))
      }
    }
    let digits = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    guard let port = Int(digits) else { preconditionFailure("socket \(fd) has no port") }
    return port
  }
}

/// Runs blocking work where it holds up nobody: the handlers under test run on the same few threads
/// as the tests.
func stranger<Result: Sendable>(
  _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
  }
}
