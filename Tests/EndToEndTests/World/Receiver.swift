import Foundation

/// The app's server that receives feedback, as a separate process, and the requests that it got.
struct Receiver {
  enum Conduct: String { case ok, slow, fail, busy, redirect, gone, drop, hang }

  /// The seconds in `Retry-After` of the `busy` conduct.
  static let retryAfter = 5

  let program: Program
  let directory: URL
  let port: Int

  static let keyText = "a-webhook-key-of-thirty-two-chars"

  /// - Parameter old: an earlier receiver, whose port and certificate are used again.
  static func start(
    in workplace: Workplace, again old: Receiver? = nil
  ) async throws -> Receiver {
    let directory = workplace.file("receiver")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try keyText.write(
      to: workplace.file("webhook.key"), atomically: true, encoding: .utf8)
    let port = try old?.port ?? FreePort.find()
    let script = root.appendingPathComponent("Tests/EndToEndTests/Fixtures/receive_webhook.py")
    let program = try Program(
      arguments + [
        script.path, directory.path, "\(port)", "k1=\(workplace.file("webhook.key").path)",
      ], in: workplace, name: "receiver", program: python)
    guard await program.waitForLine("ready") else {
      throw TestFailure("the receiver: \(program.errors)")
    }
    return Receiver(program: program, directory: directory, port: port)
  }

  /// One more line of an environment's configuration.
  func configuration(_ workplace: Workplace) -> String {
    "feedback: { url: 'https://127.0.0.1:\(port)/feedback', timeout: 2s, "
      + "trustRoots: \(directory.path)/receiver.pem, "
      + "keys: [{ id: k1, path: \(workplace.file("webhook.key").path) }] }"
  }

  func behave(_ conduct: Conduct) throws {
    try conduct.rawValue.write(
      to: directory.appendingPathComponent("conduct"), atomically: true, encoding: .utf8)
  }

  /// Requests that came, oldest first.
  func received() throws -> [JSON] {
    try JSON.lines(of: directory.appendingPathComponent("received.jsonl"))
  }

  /// Items of requests that were answered 2xx.
  func taken() throws -> [JSON] {
    try received().filter { $0["status"].int == 204 }.flatMap { $0["body"]["items"].array }
  }

  /// Whether every request has a signature that third-party code verified.
  func isVerified() throws -> Bool {
    let all = try received()
    return !all.isEmpty && all.allSatisfy { $0["verified"].bool == true }
  }

  /// Whether a request arrived during this conduct.
  func met(_ conduct: Conduct) async throws -> Bool {
    try await Pause.until(seconds: 60) {
      try received().contains { $0["conduct"].string == conduct.rawValue }
    }
  }

  func stop() async {
    program.signal(SIGKILL)
    await program.wait()
  }

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  private static let installed = root.appendingPathComponent(".build/webhook/bin/python")

  /// Whether a Python with the Standard Webhooks library is installed. Without it, the receiver
  /// runs with the system's Python.
  private static var hasLibrary: Bool {
    FileManager.default.isExecutableFile(atPath: installed.path)
  }
  private static var python: URL {
    hasLibrary ? installed : URL(fileURLWithPath: "/usr/bin/env")
  }
  private static var arguments: [String] { hasLibrary ? [] : ["python3"] }
}
