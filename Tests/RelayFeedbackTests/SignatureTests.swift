import Foundation
import RelayFeedback
import RelayWire
import Testing

/// OpenSSL computes the signatures of the webhook's requests again.
@Suite struct SignatureTests {
  @Test func `OpenSSL computes the same signatures`() async throws {
    let keys = [
      FeedbackWorld.key,
      WebhookSettings.Key(id: "k2", bytes: (0..<32).map { UInt8($0) &* 7 &+ 1 }),
    ]
    let world = try await FeedbackWorld()
    try await world.fold(1...2)
    try await world.run([FeedbackWorld.notes: FeedbackWorld.settings(keys: keys)]) {
      await world.servers.came(1)
    }
    let request = try #require(world.servers.requests().first)
    let id = try #require(request.header("webhook-id"))
    let timestamp = try #require(request.header("webhook-timestamp"))
    #expect(timestamp == "1795230000")
    #expect(id.hasPrefix("k1_") && !id.contains("."), "the first key's id is signed with it")
    #expect(request.header("webhook-key-id") == "k1 k2")
    let signatures = try #require(request.header("webhook-signature")).split(separator: " ")
    let signed = Data("\(id).\(timestamp).".utf8) + Data(request.body)
    for (key, signature) in zip(keys, signatures) {
      let digest = try Self.openSSL(signed, key: key.bytes)
      #expect(signature == "v1,\(digest.base64EncodedString())")
    }
    #expect(signatures.count == 2)
  }

  private static func openSSL(_ data: Data, key: [UInt8]) throws -> Data {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-signed-\(UUID().uuidString)")
    try data.write(to: file)
    // A temporary file that is left behind does no harm.
    defer { try? FileManager.default.removeItem(at: file) }
    let hex = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(hex)", "-binary",
      file.path,
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let digest = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return digest
  }
}
