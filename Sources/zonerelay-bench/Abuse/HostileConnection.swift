import Foundation

/// A hostile caller's TCP connection: plain bytes, blocking, with bounded waits. The caller may
/// write very slowly, read nothing, or send bytes that are not HTTP.
final class HostileConnection {
  private let descriptor: Int32
  private var unread: [UInt8] = []
  /// Seconds without an answer after which the caller gives up and opens the next connection.
  static let patience = 5

  /// - Returns: nil if the connection was refused.
  init?(port: Int) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
    guard connect(to: port) else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  private func connect(to port: Int) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port)).bigEndian
    address.sin_addr.s_addr = inet_addr(Loopback.address)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, size) == 0
      }
    }
  }

  /// - Returns: false if the daemon closed the connection, or has read nothing for too long.
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// The next complete answer; nil if there is none.
  ///
  /// - Parameter seconds: how long to wait; 0 takes only an answer that has already arrived.
  func answer(within seconds: Int = HostileConnection.patience) -> HostileAnswer? {
    // The system treats a timeout of zero as no timeout.
    var patience = timeval(tv_sec: seconds, tv_usec: seconds == 0 ? 1_000 : 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    while true {
      if let end = unread.withUnsafeBytes({ $0.end(of: "\r\n\r\n", from: 0) }) {
        let answer = HostileAnswer(head: String(decoding: unread[..<end], as: UTF8.self))
        unread.removeFirst(end)
        guard let answer, read(atLeast: answer.length) else { return nil }
        unread.removeFirst(answer.length)
        return answer
      }
      guard unread.count < 65_536, read(atLeast: unread.count + 1) else { return nil }
    }
  }

  private func read(atLeast count: Int) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while unread.count < count {
      let got = recv(descriptor, &chunk, chunk.count, 0)
      guard got > 0 else { return false }
      unread += chunk[..<got]
    }
    return true
  }
}

/// The parts of an answer that a hostile caller reads.
struct HostileAnswer {
  var status: Int
  var length = 0
  var hasRetryAfter = false

  /// - Parameter head: the status line and the fields.
  init?(head: String) {
    let lines = head.components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count > 1, let status = Int(words[1]) else { return nil }
    self.status = status
    for line in lines.dropFirst() {
      let field = line.lowercased()
      if field.hasPrefix("content-length:") {
        length = Int(field.dropFirst(15).trimmingCharacters(in: .whitespaces)) ?? 0
      }
      if field.hasPrefix("retry-after:") { hasRetryAfter = true }
    }
  }
}
