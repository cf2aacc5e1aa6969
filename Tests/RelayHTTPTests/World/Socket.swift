import Foundation
import Glibc
import Synchronization

/// A plain client socket, as any program on the network could open one. Its calls block, so tests
/// make them inside `stranger`, on a separate thread.
final class Socket: Sendable {
  let fd: Int32
  private let unread = Mutex<[UInt8]>([])

  /// - Parameter room: the approximate number of unread bytes that the kernel keeps; `nil` means
  ///   the kernel's default.
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

  /// Limits each read to a minute, so that a test without an answer fails instead of hanging.
  private func setPatience() {
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(
      fd, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  /// - Returns: the number of bytes that the server or the kernel took.
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

  /// Makes later sends end if the kernel takes no byte for this time.
  func losePatience(milliseconds: Int) {
    var patience = timeval(tv_sec: 0, tv_usec: milliseconds * 1_000)
    setsockopt(
      fd, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Waits until the condition is true, or for a minute.
  static func wait(for isTrue: () -> Bool) {
    let end = ContinuousClock.now + .seconds(60)
    while !isTrue(), ContinuousClock.now < end { sched_yield() }
  }

  /// Whether there is something to receive within this time.
  func hears(withinMilliseconds time: Int32) -> Bool {
    var asked = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
    return poll(&asked, 1, time) > 0
  }

  /// Returns all bytes up to and including `end`, and the next call returns the bytes after `end`.
  /// Without `end`, returns all bytes until the server closes or sends nothing for a minute.
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

  /// A listening socket, as systemd would pass it. For port 0 the kernel chooses the port.
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

  /// The port of a socket. This code lets `getnameinfo` write the port as text, because it may not
  /// use the members of `sockaddr_in`: they belong to the C library's module or to NIO's, depending
  /// on which of the two the compiler reads first.
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

/// Runs blocking work on a separate thread, because the handlers under test and the tests share a
/// few threads.
func stranger<Result: Sendable>(
  _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
  }
}
