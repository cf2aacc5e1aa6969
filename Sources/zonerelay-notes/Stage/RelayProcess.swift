import Foundation
import Synchronization
import ZoneRelayClient

final class RelayProcess: Sendable {
  let address: RelayAddress
  let (userSecret, producerKey) = (UUID().uuidString, UUID().uuidString)
  private let binary: URL, settings: URL
  private let transport = URLSessionTransport()
  private let process = Mutex<Process?>(nil)
  let remedy = "where a port is taken, start this again: it takes others, by its process id"
  var isRunning: Bool { process.withLock { $0?.isRunning ?? false } }

  init(_ binary: URL, in folder: URL, port: Int) throws {
    self.binary = binary
    settings = folder.appendingPathComponent("zonerelay.yaml")
    let url = URL(string: "http://127.0.0.1:\(port)")!
    address = RelayAddress(url: url, container: "com.example.notes", environment: .development)
    let text = """
      server: { listen: "127.0.0.1:\(port)" }
      control: { socket: control.sock }
      store: { directory: store }
      log: { level: error }
      coalescing: { window: 100ms }
      containers:
      - id: \(address.container)
        environments: { development: {
          users: { sharedSecret: user.secret }, producers: [{ name: notes, bearer: poster.key }] } }
      """
    let files = ["zonerelay.yaml": text, "user.secret": userSecret, "poster.key": producerKey]
    for (name, text) in files { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
  }

  func start() async throws {
    let run = Result { try Process.run(binary, arguments: ["serve", "--config", settings.path]) }
    let process = try run.mapError {
      StageError(description: "cannot run \(binary.path): build it or set NOTES_RELAY (\($0))")
    }.get()
    self.process.withLock { $0 = process }
    let ready = RelayRequest(
      method: "GET", url: address.url.appendingPathComponent("health/ready"), timeout: .seconds(2))
    while (try? await transport.send(ready))?.status != 200 {
      guard process.isRunning else {
        throw StageError(description: "the relay has ended; \(remedy)")
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Ends the relay as a power failure would, even if the relay is stopped (SIGSTOP).
  func kill() {
    guard let process = process.withLock({ $0 }), process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  func expireTokens() async throws {
    let command = try Process.run(binary, arguments: ["expire-tokens", "--config", settings.path])
    while command.isRunning { try await Task.sleep(for: .milliseconds(20)) }
    guard command.terminationStatus == 0 else { throw StageError(description: "no token expired") }
  }
}
