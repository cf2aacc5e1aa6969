import Crypto
import Foundation
import NIOCore
import NIOPosix
import RelayWire

/// The daemon under measurement: its own process, store and configuration.
struct MeasuredDaemon {
  let child: Child
  let port: Int
  private let bench: Workbench
  private let control: String

  static let container = "iCloud.com.example.notes"
  static let scope = "\(container)/development"
  static let topic = "com.example.notes"
  static let producerKey = "producer-key-of-at-least-thirty-two-chars"
  private static let userSecret = "a shared secret of at least thirty-two bytes"

  /// Starts the daemon and waits until it is ready.
  ///
  /// - Parameters:
  ///   - apns: the configuration lines of a route, with their indentation.
  ///   - others: bearer keys of further producers, by name.
  ///   - signer: the key id and the public key, in PEM, of one more producer, which signs its
  ///     requests.
  ///   - settings: further configuration lines.
  ///   - store: the directory of a store; nil means a new, empty store.
  ///   - name: distinguishes daemons that run at the same time.
  static func start(
    _ bench: Workbench, name: String = "daemon", apns: String = "", others: [String: String] = [:],
    signer: (keyID: String, pem: String)? = nil, settings: String = "", store: URL? = nil,
    patience: Duration = .seconds(30)
  ) async throws -> MeasuredDaemon {
    let program = bench.options.daemonPath
    guard FileManager.default.isExecutableFile(atPath: program) else {
      throw BenchError("no daemon at \(program); build the product zonerelay, or say --daemon")
    }
    let place = try bench.emptyDirectory(name)
    let store = store ?? place.appendingPathComponent("store")
    try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
    func secret(_ name: String, _ text: String) throws -> String {
      let file = place.appendingPathComponent(name)
      try text.write(to: file, atomically: true, encoding: .utf8)
      return file.path
    }
    let port = try Loopback.freePort()
    let control = place.appendingPathComponent("control.sock").path
    var producers = try others.sorted { $0.key < $1.key }.map {
      "          - { name: \($0.key), bearer: \(try secret("\($0.key).key", $0.value)) }\n"
    }.joined()
    if let signer {
      producers += "          - { name: signer, keyID: \(signer.keyID), "
      producers += "publicKey: \(try secret("signer.pem", signer.pem)) }\n"
    }
    let text = """
      server:
        listen: \(Loopback.address):\(port)
      control:
        socket: \(control)
      store:
        engine: sqlite
        directory: \(store.path)
      containers:
        - id: \(container)
          environments:
            development:
              users:
                sharedSecret: \(try secret("user.secret", userSecret))
              producers:
                - { name: bench, bearer: \(try secret("producer.key", producerKey)) }

      """
    let file = place.appendingPathComponent("zonerelay.yaml")
    try (text + producers + apns + "\n" + settings + "\n").write(
      to: file, atomically: true, encoding: .utf8)
    let child = try bench.start(program, ["serve", "--config", file.path], name: "\(name)-serve")
    let daemon = MeasuredDaemon(child: child, port: port, bench: bench, control: control)
    try Loopback.waitForListener(on: port, by: child, name: "zonerelay", patience: patience)
    try await daemon.waitUntilReady(within: patience)
    return daemon
  }

  /// Sends one request on a connection of its own, and returns the answer.
  func call(_ request: ByteBuffer) async throws -> LoadAnswer {
    try await LoadExchange.call(request, to: .port(port), group: bench.group)
  }

  /// Opens a connection for each caller without sending a request.
  func connect(_ callers: [any LoadCaller]) async throws -> LoadExchange {
    try await LoadExchange(callers, to: .port(port), group: bench.group)
  }

  /// Opens a connection for each caller, and runs all callers.
  func serve(_ callers: [any LoadCaller], within limit: TimeAmount) async throws {
    try await connect(callers).run(within: limit)
  }

  private func waitUntilReady(within patience: Duration) async throws {
    let deadline = ContinuousClock.now + patience
    while .now < deadline {
      if try await call(RequestText.get("/health/ready")).status == 200 { return }
      try await ContinuousClock().sleep(for: .milliseconds(20))
    }
    throw BenchError(
      "the daemon is not ready within \(patience.components.seconds) s: "
        + "\(child.said.suffix(2_000))")
  }

  func stop() async throws {
    let ended = try await child.stop()
    guard ended.status == 0 else {
      throw BenchError("the daemon ended with \(ended.status): \(child.said.suffix(2_000))")
    }
  }

  /// Waits until the daemon has folded all accepted changes.
  func settle(within patience: Duration = .seconds(60)) async throws {
    try await wait(within: patience) { $0.store.journalTail == 0 && $0.fanouts.running == 0 }
  }

  /// Waits until `isDone` holds three times in a row: a message that moves between two partitions
  /// is in no count for a moment.
  func wait(within patience: Duration, until isDone: (StatusReport) -> Bool) async throws {
    let deadline = ContinuousClock.now + patience
    var times = 0
    while times < 3 {
      guard .now < deadline else {
        throw BenchError("the daemon does not come to rest within \(patience.components.seconds) s")
      }
      try await ContinuousClock().sleep(for: .milliseconds(100))
      times = isDone(try await status()) ? times + 1 : 0
    }
  }

  /// The report of `zonerelay status --json`.
  func status() async throws -> StatusReport {
    let child = try bench.start(
      bench.options.daemonPath, ["status", "--json", "--control", control], name: "status")
    _ = try await child.wait(within: .seconds(30))
    do {
      return try JSONDecoder().decode(StatusReport.self, from: Data(child.text.utf8))
    } catch {
      throw BenchError("status --json cannot be read: \(error): \(child.said.suffix(2_000))")
    }
  }

  /// The value of an unlabelled metric on the control socket; nil if the daemon does not have it.
  func metric(_ name: String) async throws -> Double? {
    let text = try await LoadExchange.call(
      RequestText.get("/metrics"), to: .socket(control), group: bench.group
    ).text
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return line.flatMap { Double($0.dropFirst(name.count + 1)) }
  }

  /// A user's token: a JWT signed with HS256, valid for an hour.
  static func userToken(_ user: String) -> String {
    let expires = Int(Date.now.timeIntervalSince1970) + 3_600
    let header = base64URL(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
    let claims = base64URL(
      Data(#"{"sub":"\#(user)","aud":"\#(container)","exp":\#(expires)}"#.utf8))
    let code = HMAC<SHA256>.authenticationCode(
      for: Data("\(header).\(claims)".utf8), using: SymmetricKey(data: Data(userSecret.utf8)))
    return "\(header).\(claims).\(base64URL(Data(code)))"
  }

  private static func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }
}
