import Foundation
import NIOCore
import NIOPosix
import Synchronization
import ZoneRelayClient

/// The relay: `zonerelay` as a child process.
final class RelayProcess: Sendable {
  let address: RelayAddress
  let (userSecret, producerKey) = (UUID().uuidString, UUID().uuidString)
  private let binary: URL, settings: URL
  private let transport = URLSessionTransport()
  private let process = Mutex<Process?>(nil)

  init(_ binary: URL, in folder: URL) async throws {
    self.binary = binary
    settings = folder.appendingPathComponent("zonerelay.yaml")
    let free = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .bind(host: "127.0.0.1", port: 0).get()
    let place = "127.0.0.1:\(free.localAddress?.port ?? 0)"
    try await free.close()
    let url = URL(string: "http://\(place)")!
    address = RelayAddress(url: url, container: "com.example.notes", environment: .development)
    let text = """
      server: { listen: "\(place)" }
      control: { socket: control.sock }
      store: { directory: store }
      log: { level: error }
      coalescing: { window: 100ms }
      containers:
      - id: \(address.container)
        environments: { development: {
          users: { sharedSecret: user.secret }, producers: [{ name: notes, bearer: poster.key }] } }
      """
    try Data(text.utf8).write(to: settings)
    try Data(userSecret.utf8).write(to: folder.appendingPathComponent("user.secret"))
    try Data(producerKey.utf8).write(to: folder.appendingPathComponent("poster.key"))
  }

  /// Starts the relay, and returns when it serves.
  func start() async throws {
    let process = try Process.run(binary, arguments: ["serve", "--config", settings.path])
    self.process.withLock { $0 = process }
    let ready = RelayRequest(method: "GET", url: address.url.appendingPathComponent("health/ready"))
    // An error means that the relay does not listen yet.
    while (try? await transport.send(ready))?.status != 200 {
      guard process.isRunning else { throw StageError(description: "the relay has ended") }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// - Parameter signal: SIGKILL ends the relay as a power failure would.
  func end(_ signal: Int32) {
    guard let process = process.withLock({ $0 }), process.isRunning else { return }
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
  }

  /// Makes all change tokens expire, as an operator does after a restore from a backup.
  func expireTokens() throws {
    let command = try Process.run(binary, arguments: ["expire-tokens", "--config", settings.path])
    command.waitUntilExit()
    guard command.terminationStatus == 0 else { throw StageError(description: "no token expired") }
  }
}
