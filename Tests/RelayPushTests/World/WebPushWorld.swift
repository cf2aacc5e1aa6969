import Crypto
import Foundation
import RelayCore
import RelayEngine
import RelayStandin

@testable import RelayPush

/// A running stand-in for a push service, with a sender for it.
struct WebPushWorld: Sendable {
  let directory: String
  let port: Int
  let sender: WebPushSender
  let clock: TestClock
  let browser = P256.KeyAgreement.PrivateKey()
  let secret = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }

  static let vapid = WebPushKeys()

  static func run(
    allowPrivateAddresses: Bool = true, attemptTimeout: Span = .seconds(10),
    limits: WebLimits = WebLimits(),
    _ body: @Sendable @escaping (WebPushWorld) async throws -> Void
  ) async throws {
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "relay-web-push-\(UUID().uuidString)").path()
    defer {
      // A temporary directory that is left behind does no harm.
      try? FileManager.default.removeItem(atPath: directory)
    }
    let standin = try await WebPushStandin(directory: directory)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await standin.run() }
      let clock = TestClock()
      let settings = try WebPushSettings(
        subject: "mailto:push@example.com", key: vapid.privateKey,
        allowPrivateAddresses: allowPrivateAddresses, trustRoots: "\(directory)/ca.pem",
        attemptTimeout: attemptTimeout)
      let sender = WebPushSender(settings, limits: limits, now: { clock.now })
      let world = WebPushWorld(
        directory: directory, port: standin.port, sender: sender, clock: clock)
      // The sender stops before the stand-in, so that the sender itself cuts off its open requests.
      try await withThrowingTaskGroup(of: Void.self) { sending in
        sending.addTask { await sender.run() }
        try await body(world)
        sending.cancelAll()
        try await sending.waitForAll()
      }
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  func push(
    _ name: String, host: String = "127.0.0.1", port: Int? = nil, intent: Push.Intent = .background,
    payload: String = #"{"aps":{"content-available":1}}"#, lives: Span = .hours(1)
  ) -> Push {
    let subscription = WebSubscription(
      endpoint: "https://\(host):\(port ?? self.port)/push/\(name)",
      publicKey: Array(browser.publicKey.x963Representation), secret: secret)
    return Push(
      id: Identifier(high: 1, low: 2),
      address: Address(transport: .webpush, topic: "", token: subscription.token), intent: intent,
      expires: clock.now + lives, collapse: "zonerelay-background", payload: Array(payload.utf8))
  }

  func send(_ push: Push) async -> Verdict {
    await withCheckedContinuation { continuation in
      sender.send(push) { continuation.resume(returning: $0) }
    }
  }

  struct Line: Decodable {
    var path: String
    var headers: [String: String]
    var body: String
    var status: Int
    var reason: String?
  }

  /// The stand-in's log.
  func lines() throws -> [Line] {
    try String(contentsOfFile: "\(directory)/pushes.jsonl", encoding: .utf8)
      .split(separator: "\n")
      .map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
  }
}
