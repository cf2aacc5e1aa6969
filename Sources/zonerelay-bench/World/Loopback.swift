import Foundation

/// Ports of 127.0.0.1.
enum Loopback {
  static let address = "127.0.0.1"

  /// A port that nobody listens on now.
  static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { Foundation.close(descriptor) }
    let found: Int? = withAddress(port: 0) { address, length in
      var length = length
      guard bind(descriptor, address, length) == 0,
        getsockname(descriptor, address, &length) == 0
      else { return nil }
      return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        Int(UInt16(bigEndian: $0.pointee.sin_port))
      }
    }
    guard let found else { throw Trouble("no free port on \(address)") }
    return found
  }

  /// Waits until somebody listens there; the program that should is named in the error.
  static func waitForListener(
    on port: Int, by child: Child, name: String, patience: Duration = .seconds(30)
  ) throws {
    let deadline = ContinuousClock.now + patience
    while .now < deadline {
      if child.hasEnded { throw Trouble("\(name) ended: \(child.said.suffix(2_000))") }
      if canConnect(to: port) { return }
      usleep(5_000)
    }
    throw Trouble(
      "\(name) does not listen on \(address):\(port) within \(patience.components.seconds) s")
  }

  private static func canConnect(to port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { Foundation.close(descriptor) }
    return withAddress(port: port) { connect(descriptor, $0, $1) == 0 }
  }

  private static func withAddress<Result>(
    port: Int, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr(self.address)
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
