import Foundation
import NIOCore
import NIOPosix

/// Ports of 127.0.0.1.
enum Loopback {
  static let address = "127.0.0.1"

  /// A port that nobody listens on now.
  static func freePort() throws -> Int {
    let listener = try ServerBootstrap(group: group).bind(host: address, port: 0).wait()
    let port = listener.localAddress?.port
    try listener.close().wait()
    guard let port else { throw Trouble("no free port on \(address)") }
    return port
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
    // Refused is an answer too: it is asked again.
    guard let channel = try? ClientBootstrap(group: group).connect(host: address, port: port).wait()
    else { return false }
    channel.close(promise: nil)
    return true
  }

  private static var group: MultiThreadedEventLoopGroup { .singleton }
}
