import Foundation
import NIOCore
import NIOPosix

/// A temporary directory with everything that a relay needs: secrets, configuration, store.
struct DemoPlace {
  static let container = "iCloud.com.example.notes"
  static let topic = "com.example.notes"

  let directory: String
  let apiPort: Int
  let standinPort: Int
  let userSecret = UUID().uuidString
  let producerKey = UUID().uuidString

  init() async throws {
    directory =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-demo-\(UUID().uuidString.prefix(8))").path
    apiPort = try await Self.freePort()
    standinPort = try await Self.freePort()
    try FileManager.default.createDirectory(
      atPath: path("store"), withIntermediateDirectories: true)
    try userSecret.write(toFile: path("user.secret"), atomically: true, encoding: .utf8)
    try producerKey.write(toFile: path("producer.key"), atomically: true, encoding: .utf8)
  }

  func path(_ name: String) -> String { "\(directory)/\(name)" }
  var apns: String { path("apns") }
  var pushes: String { path("apns/pushes.jsonl") }
  var control: String { path("control.sock") }

  func writeConfiguration() throws {
    let text = """
      server: { listen: "127.0.0.1:\(apiPort)" }
      control: { socket: "\(control)" }
      store: { engine: sqlite, directory: "\(path("store"))" }
      containers:
        - id: \(Self.container)
          environments:
            development:
              users: { sharedSecret: "\(path("user.secret"))" }
              producers:
                - { name: records-1, bearer: "\(path("producer.key"))" }
              apns:
                - topic: \(Self.topic)
                  key: { path: "\(apns)/AuthKey.p8", keyID: ABCDE12345, teamID: TEAM123456 }
                  endpoint: "https://127.0.0.1:\(standinPort)"
                  trustRoots: "\(apns)/ca.pem"
      """
    try text.write(toFile: path("zonerelay.yaml"), atomically: true, encoding: .utf8)
  }

  func userToken(_ user: String) async throws -> String {
    try await SignedUserToken.sign(
      user: user, container: Self.container, secret: Array(userSecret.utf8))
  }

  func remove() {
    // The system cleans up what is left in the temporary directory.
    try? FileManager.default.removeItem(atPath: directory)
  }

  private static func freePort() async throws -> Int {
    do {
      let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .bind(host: "127.0.0.1", port: 0).get()
      guard let port = listener.localAddress?.port else { throw ChannelError.unknownLocalAddress }
      try await listener.close()
      return port
    } catch {
      throw Failure(
        .failed, "no loopback port is free: \(error)", hint: "look with: ss --listening --tcp")
    }
  }
}
