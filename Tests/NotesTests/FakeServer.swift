import Foundation
import ZoneRelayClient

@testable import zonerelay_notes

/// A server that answers as the test says. A sign-in always succeeds.
actor FakeServer: RelayTransport {
  static let url = URL(string: "http://127.0.0.1:1")!
  static let zone = ZoneID(name: "Notes", owner: "_alice")
  private let answer: @Sendable (RelayRequest) async throws -> RelayAnswer
  /// What a sign-in gives; nil: `token 1`, `token 2` and so on.
  private let token: String?
  private(set) var signIns = 0

  init(
    token: String? = nil, _ answer: @escaping @Sendable (RelayRequest) async throws -> RelayAnswer
  ) {
    (self.token, self.answer) = (token, answer)
  }

  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    guard request.url.path.hasPrefix("/sign-in/") else { return try await answer(request) }
    signIns += 1
    // Other callers come meanwhile.
    for _ in 0..<1_000 { await Task.yield() }
    return RelayAnswer(status: 200, body: Data((token ?? "token \(signIns)").utf8))
  }

  nonisolated var client: RecordServerClient {
    RecordServerClient(Self.url, user: "_alice", transport: self)
  }

  static func notes(_ notes: Note...) throws -> RelayAnswer {
    RelayAnswer(status: 200, body: try JSONEncoder().encode(notes))
  }
}

/// A directory of one test, which is removed with this value.
final class TestDirectory: Sendable {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  // What cannot be removed is left to the system, which cleans the temporary directory.
  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
