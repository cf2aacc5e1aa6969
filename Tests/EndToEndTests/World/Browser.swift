import Crypto
import Foundation

/// A browser with a push subscription, and the stand-in for its push service as a separate process.
struct Browser {
  let key = P256.KeyAgreement.PrivateKey()
  let secret = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
  let endpoint: String

  init(_ name: String, port: Int) { endpoint = "https://127.0.0.1:\(port)/push/\(name)" }

  /// The subscription in the form of `PushSubscription.toJSON()`.
  var subscription: [String: Any] {
    [
      "endpoint": endpoint, "expirationTime": NSNull(),
      "keys": [
        "p256dh": Self.base64URL(key.publicKey.x963Representation),
        "auth": Self.base64URL(secret),
      ],
    ]
  }

  func register(_ phone: Phone) async throws -> Web.Answer {
    try await phone.web.post(
      "/device/1/\(phone.scope)/tokens/register",
      ["transport": "webpush", "clientId": phone.client, "subscription": subscription],
      token: phone.userToken)
  }

  /// The pushes, decrypted by Python's http-ece; `nil` means that http-ece is not installed.
  func open(_ pushes: [JSON], in workplace: Workplace) async throws -> [JSON]? {
    let python = Self.root.appendingPathComponent(".build/webpush/bin/python")
    guard FileManager.default.isExecutableFile(atPath: python.path) else { return nil }
    let given: [String: Any] = [
      "key": Self.base64URL(key.rawRepresentation), "auth": Self.base64URL(secret),
      "pushes": pushes.map {
        [
          "body": $0["body"].string ?? "",
          "authorization": $0["headers"]["authorization"].string ?? "",
        ]
      },
    ]
    let file = workplace.file("given-\(UUID().uuidString).json")
    try JSONSerialization.data(withJSONObject: given).write(to: file)
    let script = Self.root.appendingPathComponent("Tests/EndToEndTests/Fixtures/open_webpush.py")
    let ended = await
      (try Program([script.path, file.path], in: workplace, name: "open", program: python)).wait()
    guard ended.status == 0 else { throw TestFailure("http-ece: \(ended.errors)") }
    return JSON(data: Data(ended.output.utf8)).array
  }

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }
}

/// A further stand-in as a separate process, and its log.
struct OtherStandin {
  let program: Program
  let directory: URL
  let port: Int

  /// - Parameters:
  ///   - command: the stand-in's command, such as `webpush-standin`.
  ///   - place: the stand-in's directory in the workplace; `nil` means the command's name.
  static func start(
    _ command: String, in workplace: Workplace, place: String? = nil, port: Int? = nil,
    _ options: [String] = []
  ) async throws -> OtherStandin {
    let (port, directory) = (try port ?? FreePort.find(), workplace.file(place ?? command))
    let program = try Program(
      [command, "--listen", "127.0.0.1:\(port)", "--directory", directory.path] + options,
      in: workplace, name: command)
    guard await program.waitForLine("ready") else {
      throw TestFailure("\(command): \(program.errors)")
    }
    return OtherStandin(program: program, directory: directory, port: port)
  }

  /// The logged requests whose path ends with `name`, accepted or not, oldest first.
  func pushes(to name: String) throws -> [JSON] {
    try JSON.lines(of: directory.appendingPathComponent("pushes.jsonl"))
      .filter { $0["path"].string?.hasSuffix("/" + name) == true }
  }

  /// Stops the stand-in, which has no state to save.
  func stop() { program.signal(SIGTERM) }
}
