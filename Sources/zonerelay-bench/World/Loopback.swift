import Foundation
import NIOCore
import NIOPosix

/// Finds and checks ports of 127.0.0.1.
enum Loopback {
  static let address = "127.0.0.1"

  /// A port on which no program listens now.
  static func freePort() throws -> Int {
    let listener = try ServerBootstrap(group: group).bind(host: address, port: 0).wait()
    let port = listener.localAddress?.port
    try listener.close().wait()
    guard let port else { throw BenchError("no free port on \(address)") }
    return port
  }

  /// Waits until a program listens on the port. An error names the expected program.
  static func waitForListener(
    on port: Int, by child: Child, name: String, patience: Duration = .seconds(30)
  ) throws {
    let deadline = ContinuousClock.now + patience
    var last = "never asked"
    while .now < deadline {
      if child.hasEnded { throw BenchError("\(name) ended: \(child.said.suffix(2_000))") }
      do {
        return try ClientBootstrap(group: group).connect(host: address, port: port).wait()
          .close(promise: nil)
      } catch {
        last = "\(error)"
        usleep(5_000)
      }
    }
    throw BenchError(
      "\(name) does not listen on \(address):\(port) within \(patience.components.seconds) s:"
        + " \(last)")
  }

  private static var group: MultiThreadedEventLoopGroup { .singleton }
}
