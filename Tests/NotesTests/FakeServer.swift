import Foundation
import ZoneRelayClient

@testable import zonerelay_notes

/// A server that answers as the test says. A sign-in always succeeds.
actor FakeServer: RelayTransport {
  static let url = URL(string: "http://127.0.0.1:1")!
  static let zone = ZoneID(name: "Notes", owner: "_alice")
  private let answer: @Sendable (RelayRequest) async throws -> RelayAnswer
  private(set) var signIns = 0

  init(_ answer: @escaping @Sendable (RelayRequest) async throws -> RelayAnswer) {
    self.answer = answer
  }

  /// The token that a sign-in gives. Each sign-in gives a token with another number.
  static func token(_ number: Int, of user: String = "_alice") -> String {
    "\(number).\(Data(#"{"sub":"\#(user)"}"#.utf8).base64EncodedString()).s"
  }

  /// An answer in the form of the record server's errors.
  static func refusal(_ status: Int) -> RelayAnswer {
    RelayAnswer(status: status, body: Data(#"{"error":{"message":"no"}}"#.utf8))
  }

  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    guard request.url.path.hasPrefix("/sign-in") else { return try await answer(request) }
    signIns += 1
    // The sign-in lets other tasks run before its answer, so that other callers come meanwhile.
    for _ in 0..<1_000 { await Task.yield() }
    let user = String(decoding: request.body ?? Data(), as: UTF8.self)
    return RelayAnswer(status: 200, body: Data(Self.token(signIns, of: user).utf8))
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
