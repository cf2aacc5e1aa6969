import Crypto
import Foundation
import RelayStandin
import Testing

/// A running stand-in with a directory of its own, and requests that it would accept.
struct StandinWorld: Sendable {
  let standin: APNsStandin
  let directory: String
  /// The `iat` of a provider token is this time minus the token's age. Tokens of equal age have
  /// equal `iat`, so the stand-in does not take one of them as an update of the other.
  private let start = Int64(Date().timeIntervalSince1970)

  init(standin: APNsStandin, directory: String) {
    self.standin = standin
    self.directory = directory
  }

  static let token = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"
  static let path = "/3/device/\(token)"
  static let background = #"{"aps":{"content-available":1},"zr":{"w":17,"on":true}}"#
  static let alert = #"{"aps":{"alert":"Hello","badge":3}}"#

  /// Starts a stand-in, runs `body` beside it, stops it and removes its directory.
  static func run<Result: Sendable>(
    goawayEvery: Int? = nil, resetEvery: Int? = nil, maxStreams: Int = 1_000,
    _ body: @Sendable @escaping (StandinWorld) async throws -> Result
  ) async throws -> Result {
    let directory = temporaryDirectory()
    defer { removeDirectory(directory) }
    let standin = try await APNsStandin(
      StandinSettings(
        directory: directory, goawayEvery: goawayEvery, resetEvery: resetEvery,
        maxStreams: maxStreams))
    let world = StandinWorld(standin: standin, directory: directory)
    return try await serving(standin) { try await body(world) }
  }

  /// Runs the stand-in while `body` runs, then stops the stand-in and waits until it has ended.
  static func serving<Result: Sendable>(
    _ standin: APNsStandin, _ body: @Sendable @escaping () async throws -> Result
  ) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask {
        try await standin.run()
        return nil
      }
      group.addTask { try await body() }
      var result: Result?
      while result == nil, let next = try await group.next() { result = next }
      group.cancelAll()
      try await group.waitForAll()
      return try #require(result)
    }
  }

  static func temporaryDirectory() -> String {
    FileManager.default.temporaryDirectory.appending(path: "standin-\(UUID().uuidString)").path()
  }

  static func removeDirectory(_ path: String) {
    // A directory that a test never made need not be removed.
    try? FileManager.default.removeItem(atPath: path)
  }

  func connect() async throws -> PushClient {
    try await PushClient.connect(port: standin.port, authority: "\(directory)/ca.pem")
  }

  func key() throws -> P256.Signing.PrivateKey {
    try P256.Signing.PrivateKey(
      pemRepresentation: String(contentsOfFile: "\(directory)/AuthKey.p8", encoding: .utf8))
  }

  /// A provider token. With the default arguments the stand-in accepts it.
  func token(
    age: Int64 = 0, keyID: String = "ABCDE12345", team: String = "TEAM123456",
    algorithm: String = "ES256", key other: P256.Signing.PrivateKey? = nil
  ) throws -> String {
    let issued = start - age
    let head = Self.base64URL(Data(#"{"alg":"\#(algorithm)","kid":"\#(keyID)"}"#.utf8))
    let claims = Self.base64URL(Data(#"{"iss":"\#(team)","iat":\#(issued)}"#.utf8))
    let signed = "\(head).\(claims)"
    let signature = try (other ?? key()).signature(for: Data(signed.utf8))
    return "\(signed).\(Self.base64URL(signature.rawRepresentation))"
  }

  /// The headers of a good background push with `changes`; a `nil` value leaves the header out.
  func headers(_ changes: [String: String?] = [:]) throws -> [(String, String)] {
    var headers: [String: String] = [
      "authorization": "bearer \(try token())", "apns-topic": "com.example.notes",
      "apns-push-type": "background", "apns-priority": "5", "apns-expiration": "1900000000",
      "apns-id": "3f6c1a52-9d0e-4b6f-8a75-0c1d2e3f4a5b", "apns-collapse-id": "notes",
    ]
    for (name, value) in changes { headers[name] = value }
    return headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The lines of the log so far.
  func lines() throws -> [LogLine] {
    try String(contentsOfFile: "\(directory)/pushes.jsonl", encoding: .utf8)
      .split(separator: "\n").map { try JSONDecoder().decode(LogLine.self, from: Data($0.utf8)) }
  }

  private static func base64URL(_ bytes: Data) -> String {
    bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }
}

/// One line of `pushes.jsonl`, as a reader that knows only the contract decodes it.
struct LogLine: Decodable {
  struct Payload: Decodable {
    struct Zr: Decodable { var w: Int, on: Bool }
    var zr: Zr?
  }
  var time: String
  var connection: Int
  var path: String
  var headers: [String: String]
  var payload: Payload?
  var status: Int
  var reason: String?
}
