import Foundation
import Glibc

/// A plain client socket: what a stranger's program would do. Its calls block: make them inside
/// `stranger`, on a thread of their own.
final class Socket: Sendable {
  let fd: Int32

  init?(port: Int) {
    fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { return nil }
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
  }

  deinit { close(fd) }

  func send(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(fd, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  /// Everything until the other side closes, or until `end` has come.
  func receive(until end: String? = nil) -> String {
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while end.map({ !text.contains($0) }) ?? true {
      let count = read(fd, &buffer, buffer.count)
      guard count > 0 else { break }
      text += String(decoding: buffer[..<count], as: UTF8.self)
    }
    return text
  }

  /// A listening socket of the kernel's choosing, as systemd would hand it over.
  static func bound() -> (fd: Int32, port: Int) {
    let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(fd, $0, length)
        _ = listen(fd, 16)
        _ = getsockname(fd, $0, &length)
      }
      return (fd, Int(in_port_t(bigEndian: pointer.pointee.sin_port)))
    }
  }
}

/// Runs blocking work where it holds up nobody: the doors under test run on the same few threads
/// as the tests.
func stranger<Result: Sendable>(
  _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
  }
}
