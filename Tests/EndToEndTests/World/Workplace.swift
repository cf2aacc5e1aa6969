import Foundation

/// A directory for one test, with everything a daemon needs. The directory is removed at the end.
struct Workplace {
  static let container = "iCloud.com.example.notes"
  static let topic = "com.example.notes"

  let directory: URL
  let started = Started()
  let apiPort: Int
  let standinPort: Int
  let userSecret = "a shared secret of at least thirty-two bytes"
  let producerKey = "producer-key-of-at-least-thirty-two-chars"

  init() throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true)
    (apiPort, standinPort) = (try FreePort.find(), try FreePort.find())
    try userSecret.write(to: file("user.secret"), atomically: true, encoding: .utf8)
    try producerKey.write(to: file("producer.key"), atomically: true, encoding: .utf8)
    try FileManager.default.createDirectory(
      at: file("store"), withIntermediateDirectories: true)
  }

  func file(_ name: String) -> URL { directory.appendingPathComponent(name) }
  var configPath: String { file("zonerelay.yaml").path }
  var controlSocket: String { file("control.sock").path }
  var api: String { "http://127.0.0.1:\(apiPort)" }

  /// Writes the configuration; the stand-in must have made its keys before.
  ///
  /// - Parameters:
  ///   - environment: one more line of the environment.
  ///   - route: one more route to Apple, its members in one line.
  func configure(
    window: String = "500ms", extra: String = "", environment: String = "", route: String? = nil
  ) throws {
    let text = """
      server:
        listen: 127.0.0.1:\(apiPort)
      control:
        socket: \(controlSocket)
      store:
        engine: sqlite
        directory: \(file("store").path)
      coalescing: { window: \(window), windowMax: 2s }
      \(extra)
      containers:
        - id: \(Self.container)
          environments:
            development:
              users:
                sharedSecret: \(file("user.secret").path)
              producers:
                - { name: records-1, bearer: \(file("producer.key").path) }
              apns:
                - topic: \(Self.topic)
                  key:
                    path: \(file("apns/AuthKey.p8").path)
                    keyID: ABCDE12345
                    teamID: TEAM123456
                  endpoint: https://127.0.0.1:\(standinPort)
                  trustRoots: \(file("apns/ca.pem").path)
                \(route.map { "- { \($0) }" } ?? "")
              \(environment)
      """
    try text.write(toFile: configPath, atomically: true, encoding: .utf8)
  }

  /// Adds a production container without a route to any provider.
  func addContainer(_ id: String) throws {
    let text = try String(contentsOfFile: configPath, encoding: .utf8)
    let more = """

        - id: \(id)
          environments:
            production:
              users: { sharedSecret: \(file("user.secret").path) }
              producers: [ { name: r, bearer: \(file("producer.key").path) } ]
      """
    try (text + more).write(toFile: configPath, atomically: true, encoding: .utf8)
  }

  /// Replaces texts of the written configuration; each `old` must occur in it.
  func reconfigure(_ changes: (old: String, new: String)...) throws {
    var text = try String(contentsOfFile: configPath, encoding: .utf8)
    for (old, new) in changes {
      guard text.contains(old) else { throw TestFailure("\(configPath) has no \"\(old)\"") }
      text = text.replacing(old, with: new)
    }
    try text.write(toFile: configPath, atomically: true, encoding: .utf8)
  }

  /// Ends the processes of the test and removes the directory. A test calls `remove` in a `defer`,
  /// so that the directory is removed even if the test fails.
  func remove() {
    started.killAll()
    // A failure here does not matter to the test. The system cleans a directory that is left
    // behind.
    try? FileManager.default.removeItem(at: directory)
  }
}

/// A loopback port that is in use until `leave` is called.
struct TakenPort {
  let port: Int
  private let descriptor: Int32

  init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let port: in_port_t? = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard bind(descriptor, address, length) == 0, listen(descriptor, 1) == 0,
          getsockname(descriptor, address, &length) == 0
        else { return nil }
        return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_port }
      }
    }
    guard let port else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw TestFailure("no port of 127.0.0.1 can be taken: \(reason)")
    }
    self.descriptor = descriptor
    self.port = Int(UInt16(bigEndian: port))
  }

  func leave() { close(descriptor) }
}

enum FreePort {
  /// A loopback port on which no process listens now.
  static func find() throws -> Int {
    let taken = try TakenPort()
    defer { taken.leave() }
    return taken.port
  }
}
