import Foundation
import NIOPosix
import RelayCore
import RelayEngine
import RelayStandin

@testable import RelayPush

/// A running FCM stand-in with a sender for it.
struct FCMWorld: Sendable {
  let directory: String
  let standin: FCMStandin
  let sender: FCMSender
  let clock: TestClock

  /// - Parameter port: the port that gives access tokens; `nil` means the stand-in's own port.
  static func run(
    project: String? = nil, account: ServiceAccount? = nil, clock: TestClock = TestClock(),
    attemptTimeout: Span = .seconds(10), tokensAt port: Int? = nil,
    _ body: @Sendable @escaping (FCMWorld) async throws -> Void
  ) async throws {
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "relay-fcm-\(UUID().uuidString)").path()
    defer {
      // A temporary directory that is left behind does no harm.
      try? FileManager.default.removeItem(atPath: directory)
    }
    let standin = try await FCMStandin(directory: directory)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await standin.run() }
      var limits = EngineWorld.limits
      limits.attemptTimeout = attemptTimeout
      let known = try Self.account(in: directory, tokensAt: port)
      let settings = try FCMSettings(
        host: "127.0.0.1", port: standin.port, project: project, account: account ?? known,
        trustRoots: "\(directory)/ca.pem", limits: limits)
      let sender = try FCMSender(
        settings, group: MultiThreadedEventLoopGroup.singleton, logger: .quiet,
        now: { clock.now })
      group.addTask { await sender.run() }
      try await body(
        FCMWorld(directory: directory, standin: standin, sender: sender, clock: clock))
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  static func account(
    in directory: String, tokensAt port: Int? = nil
  ) throws -> ServiceAccount {
    let path = URL(fileURLWithPath: "\(directory)/service-account.json")
    let file = try Data(contentsOf: path)
    guard let port else { return try ServiceAccount(json: [UInt8](file)) }
    var fields = try JSONDecoder().decode([String: String].self, from: file)
    fields["token_uri"] = "https://127.0.0.1:\(port)/token"
    return try ServiceAccount(json: [UInt8](JSONEncoder().encode(fields)))
  }

  func push(_ token: String, intent: Push.Intent = .background, lives: Span = .hours(1)) -> Push {
    let payload = #"{"aps":{"content-available":1},"ck":{"ce":2,"nid":"a:b,\"{"},"zr":{"w":17}}"#
    return Push(
      id: Identifier(high: 1, low: 2),
      address: Address(transport: .fcm, topic: FCMStandin.project, token: Array(token.utf8)),
      intent: intent, expires: clock.now + lives, collapse: "zonerelay-background",
      payload: Array(payload.utf8))
  }

  func send(_ push: Push) async -> Verdict {
    await withCheckedContinuation { continuation in
      sender.send(push) { continuation.resume(returning: $0) }
    }
  }

  struct Line: Decodable {
    var path: String
    var status: Int
    var reason: String?
  }

  /// The stand-in's log.
  func lines() throws -> [Line] {
    try String(contentsOfFile: "\(directory)/pushes.jsonl", encoding: .utf8)
      .split(separator: "\n")
      .map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
  }

  /// The requests for an access token in the log.
  func grants() throws -> [Line] { try lines().filter { $0.path == "/token" } }
}
