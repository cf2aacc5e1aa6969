import Foundation

/// The socket on which a daemon notifies systemd.
struct Mailbox: ~Copyable {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw TestFailure("cannot bind \(path)") }
  }

  deinit { close(descriptor) }

  /// Consumes messages until one begins with `start` and contains `words`. Returns false if no such
  /// message comes in time.
  func hears(_ start: String, _ words: String = "") async -> Bool {
    let descriptor = descriptor
    return await Pause.until {
      while let letter = Self.next(descriptor) {
        if letter.hasPrefix(start), words.isEmpty || letter.contains(words) { return true }
      }
      return false
    }
  }

  /// Consumes and returns the messages that are waiting.
  var letters: [String] {
    var letters: [String] = []
    while let letter = Self.next(descriptor) { letters.append(letter) }
    return letters
  }

  private static func next(_ descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return count >= 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }
}
